// The table of selected rows.  The server sends a piece of it when it comes into view; Tabulator is fetched by the first.
import {still} from "../stage/motion.js"
import {stage} from "../stage/page.js"

const PIECE = 100 // rows
const WIDE = 64 // pixels of a distribution
const HIGH = 18

// Pixels of a long table; of the head and the scrollbar of a short one, and of a row.
const TALL = 340
const HEAD = 64
const LINE = 29

let library = null

function loadLibrary(address) {
  library ??= new Promise((done, fail) => {
    const script = Object.assign(document.createElement("script"), {src: new URL(address, document.baseURI).href})
    script.onload = () => done(globalThis.Tabulator)
    script.onerror = () => fail(new Error(`${address} was not loaded`))
    document.head.append(script)
  })
  return library
}

// Bars of the selected rows before the outline of the others.
function distribution({selected, rest}) {
  const most = Math.max(...selected, ...rest, 1e-9)
  const step = WIDE / selected.length
  const bars = (shares, className) =>
    shares
      .map((share, k) => {
        const high = (HIGH * share) / most
        return `<rect class="${className}" x="${k * step}" y="${HIGH - high}" width="${Math.max(step - 1, 1)}" height="${high}"/>`
      })
      .join("")
  return `<svg viewBox="0 0 ${WIDE} ${HIGH}" width="${WIDE}" height="${HIGH}" aria-hidden="true">${bars(rest, "rest")}${bars(selected, "selected")}</svg>`
}

class RowTable {
  constructor(model, host) {
    this.model = model
    this.host = host
    this.waiting = new Map()
    this.asked = 0
    this.table = null
  }

  get board() {
    return stage.boards.get(this.model.board)
  }

  // Ask the server for a piece of the table.
  ask({page, size, sort}) {
    this.asked += 1
    const number = this.asked
    const [first] = sort ?? []
    this.model.send_msg({kind: "piece", number, page, size, column: first?.field ?? "", down: first?.dir === "desc"})
    return new Promise((done) => this.waiting.set(number, done))
  }

  async show({columns, version, rows}) {
    const Tabulator = await loadLibrary(this.model.library)
    if (this.version === version) return
    this.version = version
    const left = this.table?.element?.querySelector(".tabulator-tableholder")?.scrollLeft
    this.waiting.clear()
    this.table?.destroy()
    this.table = new Tabulator(this.host, {
      height: Math.min(TALL, HEAD + LINE * rows),
      layout: "fitData",
      index: "row",
      sortMode: "remote",
      ajaxURL: "rows",
      ajaxRequestFunc: (_url, _config, parameters) => this.ask(parameters),
      progressiveLoad: "scroll",
      progressiveLoadScrollMargin: 600,
      paginationSize: PIECE,
      placeholder: "No rows",
      columnHeaderSortMulti: false,
      columns: columns.map((column) => this.column(column)),
    })
    this.table.on("rowMouseEnter", (_event, row) => this.board?.group.hover(row.getData().number))
    this.table.on("rowMouseLeave", () => this.board?.group.hover(-1))
    this.table.on("tableBuilt", () => {
      // What scrolls is reached by the keyboard: it has to be a part of a grid itself.
      const holder = this.host.querySelector(".tabulator-tableholder")
      this.host.removeAttribute("aria-owns")
      this.host.setAttribute("aria-label", "Rows")
      holder.setAttribute("role", "rowgroup")
      holder.firstElementChild.setAttribute("role", "none")
      holder.setAttribute("aria-label", "Rows: arrow keys go from one to the next")
      holder.addEventListener("keydown", (event) => this.step(event, holder))
      if (!this.seen) this.host.scrollIntoView({block: "nearest", behavior: still.matches ? "auto" : "smooth"})
      this.seen = true
      if (left) holder.scrollLeft = left
    })
    const table = this.table
    let fitted = false
    table.on("dataProcessed", () => {
      if (!fitted && table === this.table) this.fit()
      fitted = true
    })
  }

  column({field, title, words, shares, number, first}) {
    return {
      field,
      title,
      frozen: Boolean(first),
      hozAlign: number ? "right" : "left",
      headerHozAlign: number ? "right" : "left",
      cssClass: number ? "number" : "",
      minWidth: 64,
      maxWidth: 260,
      titleFormatter: () => {
        const head = document.createElement("button")
        head.type = "button"
        head.title = words
        head.append(Object.assign(document.createElement("span"), {textContent: title}))
        if (shares) head.insertAdjacentHTML("beforeend", distribution(shares))
        head.setAttribute("aria-label", `${title}, ${words}: sort`)
        return head
      },
      formatter: first ? (cell) => this.go(cell) : "plaintext",
    }
  }

  // Columns in sight are whole: those that fit share the room that is left.
  fit() {
    const holder = this.host.querySelector(".tabulator-tableholder")
    let room = holder.clientWidth
    const whole = []
    for (const column of this.table.getColumns()) {
      if (column.getWidth() > room) break
      room -= column.getWidth()
      whole.push(column)
    }
    const some = whole.slice(1) // the numbers of rows need no more
    for (const [k, column] of some.entries()) {
      const more = Math.floor(room / (some.length - k))
      room -= more
      column.setWidth(column.getWidth() + more)
    }
  }

  // The number of a row: a press points at it on the map, if it is drawn there.
  go(cell) {
    if (cell.getData().number < 0) return cell.getValue()
    const button = document.createElement("button")
    button.type = "button"
    button.tabIndex = -1 // the Tab key stops at one row at most, see `step`
    button.textContent = cell.getValue()
    button.setAttribute("aria-label", `Show row ${cell.getValue()} on the map`)
    button.onclick = () => this.model.send_msg({kind: "point", number: cell.getData().number})
    return button
  }

  // Go to the next row or the one before, or from the table itself to the first row in sight.
  step(event, holder) {
    const by = {ArrowDown: 1, ArrowUp: -1}[event.key]
    const buttons = [...holder.querySelectorAll(".tabulator-row button")]
    const {top} = holder.getBoundingClientRect()
    const at = buttons.indexOf(event.target)
    const next = at < 0 ? buttons.find((each) => each.getBoundingClientRect().top >= top) : buttons[at + by]
    if (!by || !next) return
    event.preventDefault()
    for (const each of buttons) each.tabIndex = each === next ? 0 : -1
    next.focus({preventScroll: true})
    next.scrollIntoView({block: "nearest", inline: "nearest"})
  }

  // Mark the row that the pointer is at on the map.
  mark(row) {
    for (const each of this.host.querySelectorAll(".pointed")) each.classList.remove("pointed")
    const found = this.table?.getRow(row)
    if (!found) return
    found.getElement().classList.add("pointed")
    this.table.scrollToRow(found, "nearest", false).catch(() => {})
  }

  hear(message) {
    if (message.kind === "show") this.show(message)
    else if (message.kind === "mark") this.mark(message.row)
    else if (message.kind === "piece") {
      const {names, rows} = message
      const data = rows.map((row) => Object.fromEntries(row.map((value, k) => [names[k], value])))
      this.waiting.get(message.number)?.({last_page: message.last, data})
      this.waiting.delete(message.number)
    }
  }
}

export function render({model}) {
  const host = document.createElement("div")
  const table = new RowTable(model, host)
  host.className = "rows"
  model.on("msg:custom", (event) => table.hear(event.data ?? event))
  model.on("remove", () => table.table?.destroy())
  setTimeout(() => model.send_msg({kind: "ready"}), 0) // it can hear an answer by then
  return host
}
