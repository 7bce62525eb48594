// Lists what a page shows, each part with its place on the screen: boxes, lines of text, icons, pictures and canvases.
// Evaluated in the page by still.py; a part is called by its way through the document, which does not depend on sizes.
;(furthest) => {
  const OPENING = "opens"
  const parts = []
  const seen = (colour) => !/^rgba\(.*, 0\)$|transparent/.test(colour)

  const childrenOf = (node) => {
    if (node.shadowRoot) return [...node.shadowRoot.childNodes]
    const assigned = node.localName === "slot" ? node.assignedNodes() : []
    return assigned.length ? assigned : [...node.childNodes]
  }

  const isShown = ({left, right, top, bottom, width, height}, clip) =>
    width > 0 &&
    height > 0 &&
    right > Math.max(0, clip.left) &&
    left < Math.min(innerWidth, clip.right) &&
    bottom > Math.max(0, clip.top) &&
    top < Math.min(furthest, clip.bottom)

  let level = 0 // of what is being listed: what is fixed lies over the rest
  const add = (key, kind, {left, top, width, height}, look, content = "") =>
    parts.push({key, kind, level, box: [left, top, width, height], look, content})

  const whole = {left: 0, top: 0, right: innerWidth, bottom: furthest}

  const within = (clip, box, style) => {
    if (style.position === "fixed") return whole
    if (style.overflow === "visible") return clip
    return {
      left: Math.max(clip.left, box.left),
      right: Math.min(clip.right, box.right),
      top: Math.max(clip.top, box.top),
      // What ends with the window goes on in a higher one.
      bottom: box.bottom < innerHeight - 1 ? Math.min(clip.bottom, box.bottom) : clip.bottom,
    }
  }

  const border = (style, side) => {
    const [width, kind, colour] = ["Width", "Style", "Color"].map((each) => style[`border${side}${each}`])
    return kind === "none" || width === "0px" || !seen(colour) ? "0" : `${width} ${kind} ${colour}`
  }

  const addBox = (key, box, style, opacity) => {
    const borders = ["Top", "Right", "Bottom", "Left"].map((side) => border(style, side))
    const look = {}
    if (seen(style.backgroundColor)) look.background = style.backgroundColor
    if (/gradient/.test(style.backgroundImage)) look.background = style.backgroundImage
    if (borders.some((each) => each !== "0")) {
      if (new Set(borders).size === 1) look.border = borders[0]
      else for (const [k, side] of ["top", "right", "bottom", "left"].entries()) look[`border-${side}`] = borders[k]
    }
    if (style.boxShadow !== "none") look["box-shadow"] = style.boxShadow
    if (!Object.keys(look).length) return
    if (style.clipPath !== "none") look["clip-path"] = style.clipPath
    if (style.borderRadius !== "0px") look["border-radius"] = style.borderRadius
    if (opacity < 1) look.opacity = opacity.toFixed(2)
    if (style.transform !== "none" && /rotate/.test(style.transform)) return
    add(key, "box", box, look)
  }

  const letters = (style, opacity, scale = 1) => {
    const size = `${(Number.parseFloat(style.fontSize) * scale).toFixed(2)}px`
    const look = {color: style.color, font: `${style.fontWeight} ${size} ${style.fontFamily}`}
    if (style.fontStyle !== "normal") look["font-style"] = style.fontStyle
    if (style.letterSpacing !== "normal") look["letter-spacing"] = style.letterSpacing
    if (style.fontVariantNumeric !== "normal") look["font-variant-numeric"] = style.fontVariantNumeric
    if (style.fontFeatureSettings !== "normal") look["font-feature-settings"] = style.fontFeatureSettings
    if (style.textDecorationLine !== "none") look["text-decoration"] = style.textDecorationLine
    if (opacity < 1) look.opacity = opacity.toFixed(2)
    return look
  }

  const transformed = (text, style) => (style.textTransform === "uppercase" ? text.toUpperCase() : text)

  const pen = document.createElement("canvas").getContext("2d")
  const widthOf = (text, style) => {
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`
    return pen.measureText(text).width
  }

  // An icon of a font, as a picture: the font comes after the still.
  const glyph = (node, style) => {
    const {left, top, width, height} = node.parentElement.getBoundingClientRect()
    const canvas = document.createElement("canvas")
    const drawn = canvas.getContext("2d")
    canvas.width = canvas.height = 2 * Math.ceil(width)
    drawn.font = `${2 * Number.parseFloat(style.fontSize)}px ${style.fontFamily}`
    drawn.fontKerning = "normal"
    drawn.textAlign = "center"
    drawn.textBaseline = "middle"
    drawn.fillText(node.data.trim(), canvas.width / 2, canvas.height / 2)
    return [{left, top: top + (height - width) / 2, width, height: width}, canvas.toDataURL("image/png")]
  }

  // Text that a style sheet puts before or after an element's own.
  const addSaid = (key, node, style, opacity) => {
    const range = document.createRange()
    if (node.firstChild) range.selectNode(node.firstChild)
    const own = node.firstChild ? range.getBoundingClientRect() : null
    const all = node.getBoundingClientRect()
    let end = own?.width ? own.right : all.left
    for (const side of ["::before", "::after"]) {
      const said = getComputedStyle(node, side)
      const text = said.content.match(/^"(.+)"$/)?.[1]
      if (!text || said.position === "absolute" || said.display === "none") continue
      const width = widthOf(text, said)
      const isFirst = side === "::before" && !(Number(said.order) > 0)
      const left = (isFirst ? all.left : end) + Number.parseFloat(said.marginLeft || 0)
      if (!isFirst) end = left + width
      const box = {left, top: own?.height ? own.top : all.top, width, height: own?.height || all.height}
      add(`${key}/${side}`, "text", box, letters(said, opacity * said.opacity), text.replace(/^ /, "\u00a0"))
    }
  }

  // Each line of a text is a part: where the browser breaks it depends on the fonts that it has by then.
  const addText = (key, node, style, opacity, clip) => {
    const lines = []
    const range = document.createRange()
    for (const match of node.data.matchAll(/\S+\s*/g)) {
      range.setStart(node, match.index)
      range.setEnd(node, match.index + match[0].trimEnd().length)
      const box = range.getClientRects()[0]
      if (!box) continue
      const last = lines.at(-1)
      if (last && Math.abs(last.top - box.top) < 3) {
        last.text += match[0]
        last.right = box.right
      } else lines.push({text: match[0], left: box.left, top: box.top, right: box.right, height: box.height})
    }
    for (const [number, {text, left, top, right, height}] of lines.entries()) {
      const box = {left, top, right, bottom: top + height, width: right - left, height}
      const {offsetHeight} = node.parentElement
      const scale = offsetHeight ? node.parentElement.getBoundingClientRect().height / offsetHeight : 1
      const look = letters(style, opacity, Math.abs(scale - 1) < 0.02 ? 1 : scale)
      // The label in the border of a field.
      if (node.parentElement.matches(".MuiInputLabel-shrink")) look.background = "var(--supdr-card)"
      if (isShown(box, clip)) add(`${key}/${number}`, "text", box, look, transformed(text, style))
    }
  }

  // The chip says how the run stands: there is none yet.
  const addChip = (key, node, style, opacity) => {
    const {left, width} = node.parentElement.getBoundingClientRect()
    const range = document.createRange()
    range.selectNodeContents(node)
    const {top, height} = range.getBoundingClientRect()
    const long = widthOf(OPENING, style)
    add(key, "text", {left: left + (width - long) / 2, top, width: long, height}, letters(style, opacity), OPENING)
  }

  const addField = (key, field, style, opacity) => {
    const {left, top, height} = field.getBoundingClientRect()
    const [before, above, below] = [style.paddingLeft, style.paddingTop, style.paddingBottom].map(Number.parseFloat)
    const text = field.selectedOptions?.[0]?.text || field.value || field.placeholder
    const size = Number.parseFloat(style.fontSize)
    const look = letters(style, field.value ? opacity : opacity / 2)
    const line = Math.round(size * 1.18)
    const middle = top + above + (height - above - below - line) / 2
    if (text) add(`${key}/value`, "text", {left: left + before, top: middle, width: 200, height: line}, look, text)
  }

  const walk = (node, key, clip, faint) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const style = getComputedStyle(node.parentElement ?? node.getRootNode().host)
      if (!node.data.trim() || style.visibility !== "visible") return
      if (/icons/i.test(style.fontFamily)) {
        const [box, picture] = glyph(node, style)
        if (isShown({...box, right: box.left + box.width, bottom: box.top + box.height}, clip))
          add(key, "glyph", box, {color: style.color, opacity: faint}, picture)
      } else if (node.parentElement?.matches(".chip")) addChip(key, node, style, faint)
      else addText(key, node, style, faint, clip)
      return
    }
    if (node.nodeType !== Node.ELEMENT_NODE || /^(script|style|link|template|noscript)$/.test(node.localName)) return
    if (/^(still|loader|status)$/.test(node.id)) return
    const style = getComputedStyle(node)
    const opacity = faint * Number(style.opacity)
    if (style.display === "none" || opacity < 0.02) return
    if (style.display !== "contents" && !node.checkVisibility()) return // in folds that are closed
    const box = node.getBoundingClientRect()
    const around = style.position === "fixed" ? whole : clip
    const shown = style.visibility === "visible" && style.display !== "contents" && isShown(box, around)
    const clipped = style.clip !== "auto" || /inset/.test(style.clipPath) || (box.width <= 1 && box.height <= 1)
    if (clipped && style.position === "absolute" && style.overflow === "hidden") return // for screen readers
    const inner = within(clip, box, style)
    const below = level
    if (style.position === "fixed") level = Math.max(level, Number(style.zIndex) || 0)
    if (shown && node.localName === "svg") {
      add(key, "icon", box, {color: style.color, fill: style.fill, opacity}, node.outerHTML)
    } else list(node, key, {box, style, opacity, shown, inner})
    level = below
  }

  const list = (node, key, {box, style, opacity, shown, inner}) => {
    if (shown) {
      if (node.localName === "canvas") add(key, "canvas", box, {}, node.toDataURL("image/png"))
      else if (node.localName === "img") add(key, "picture", box, {"border-radius": style.borderRadius, opacity}, node.src)
      else if (node.localName !== "body") addBox(key, box, style, opacity)
      const isField = node.localName === "input" && /^(text|search|number)$/.test(node.type)
      if (isField || node.localName === "select") addField(key, node, style, opacity)
      if (node.localName === "select") return
    }
    if (shown) addSaid(key, node, style, opacity)
    for (const [number, child] of childrenOf(node).entries()) walk(child, `${key}.${number}`, inner, opacity)
  }

  walk(document.body, "", whole, 1)
  return parts.sort((one, other) => one.level - other.level)
}
