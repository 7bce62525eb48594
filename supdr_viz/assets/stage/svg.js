// A pen that writes SVG, with those calls of a canvas's pen that the stage makes.
export class SvgPen {
  constructor(wide, high) {
    this.size = [wide, high]
    this.parts = []
    this.defs = []
    this.open = []
    this.kept = []
    this.d = ""
    this.matrix = [1, 0, 0, 1, 0, 0]
    this.dash = []
    Object.assign(this, {
      fillStyle: "#000",
      strokeStyle: "#000",
      lineWidth: 1,
      globalAlpha: 1,
      font: "10px sans-serif",
      textAlign: "left",
      textBaseline: "alphabetic",
      lineJoin: "miter",
      imageSmoothingEnabled: true,
      groups: 0,
    })
  }
  at(x, y) {
    const [a, b, c, d, e, f] = this.matrix
    return [(a * x + c * y + e).toFixed(2), (b * x + d * y + f).toFixed(2)].join(" ")
  }
  turn([a, b, c, d, e, f]) {
    const [p, q, r, s, t, u] = this.matrix
    this.matrix = [p * a + r * b, q * a + s * b, p * c + r * d, q * c + s * d, p * e + r * f + t, q * e + s * f + u]
  }
  translate(x, y) {
    this.turn([1, 0, 0, 1, x, y])
  }
  scale(x, y) {
    this.turn([x, 0, 0, y, 0, 0])
  }
  rotate(angle) {
    this.turn([Math.cos(angle), Math.sin(angle), -Math.sin(angle), Math.cos(angle), 0, 0])
  }
  save() {
    const {fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, lineJoin, dash, groups} = this
    this.kept.push({
      fillStyle,
      strokeStyle,
      lineWidth,
      globalAlpha,
      font,
      textAlign,
      textBaseline,
      lineJoin,
      dash,
      groups,
      matrix: [...this.matrix],
    })
  }
  restore() {
    const kept = this.kept.pop()
    for (; this.groups > kept.groups; this.groups--) this.parts.push("</g>")
    Object.assign(this, kept)
  }
  beginPath() {
    this.d = ""
  }
  moveTo(x, y) {
    this.d += `M${this.at(x, y)}`
  }
  lineTo(x, y) {
    this.d += `L${this.at(x, y)}`
  }
  quadraticCurveTo(a, b, x, y) {
    this.d += `Q${this.at(a, b)} ${this.at(x, y)}`
  }
  closePath() {
    this.d += "Z"
  }
  rect(x, y, wide, high) {
    this.moveTo(x, y)
    this.lineTo(x + wide, y)
    this.lineTo(x + wide, y + high)
    this.lineTo(x, y + high)
    this.closePath()
  }
  arc(x, y, radius) {
    // full circles only
    this.d += `M${this.at(x - radius, y)}A${radius} ${radius} 0 1 0 ${this.at(x + radius, y)}`
    this.d += `A${radius} ${radius} 0 1 0 ${this.at(x - radius, y)}Z`
  }
  setLineDash(dash) {
    this.dash = dash
  }
  get opacity() {
    return this.globalAlpha < 1 ? ` opacity="${+this.globalAlpha.toFixed(3)}"` : ""
  }
  fill() {
    this.parts.push(`<path d="${this.d}" fill="${this.fillStyle}"${this.opacity}/>`)
  }
  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""
    const look = `stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-linejoin="${this.lineJoin}"`
    this.parts.push(`<path d="${this.d}" fill="none" ${look}${dash}${this.opacity}/>`)
  }
  clip() {
    const id = `clip-${this.defs.length}`
    this.defs.push(`<clipPath id="${id}"><path d="${this.d}"/></clipPath>`)
    this.parts.push(`<g clip-path="url(#${id})">`)
    this.groups += 1
  }
  fillRect(x, y, wide, high) {
    this.beginPath()
    this.rect(x, y, wide, high)
    this.fill()
  }
  measureText(text) {
    const pen = new OffscreenCanvas(1, 1).getContext("2d")
    pen.font = this.font
    return pen.measureText(text)
  }
  fillText(text, x, y) {
    const anchor = {left: "start", center: "middle", right: "end"}[this.textAlign]
    const base = {top: "text-before-edge", middle: "central", bottom: "text-after-edge", alphabetic: "auto"}[
      this.textBaseline
    ]
    const escaped = text.replace(/[&<>]/g, (sign) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[sign])
    const place = `transform="matrix(${this.matrix.map((value) => +value.toFixed(4)).join(" ")})" x="${x}" y="${y}"`
    const look = `style="font:${this.font}" fill="${this.fillStyle}" text-anchor="${anchor}" dominant-baseline="${base}"`
    this.parts.push(`<text ${place} ${look}${this.opacity}>${escaped}</text>`)
  }
  drawImage(image, x, y, wide, high) {
    const canvas = document.createElement("canvas")
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext("2d").drawImage(image, 0, 0)
    const [left, top] = this.at(x, y).split(" ")
    const box = `x="${left}" y="${top}" width="${wide}" height="${high}" preserveAspectRatio="none"`
    const look = this.imageSmoothingEnabled ? "auto" : "pixelated"
    this.parts.push(`<image href="${canvas.toDataURL()}" ${box} image-rendering="${look}"${this.opacity}/>`)
  }
  get text() {
    const [wide, high] = this.size
    const head = `xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}"`
    const defs = this.defs.length ? `<defs>${this.defs.join("")}</defs>` : ""
    return `<svg ${head} viewBox="0 0 ${wide} ${high}">${defs}${this.parts.join("")}</svg>`
  }
}
