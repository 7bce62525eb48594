// Marks of rows drawn by graphics hardware, where a trial shows that it is quicker: the interface of `Raster` and its
// masks, so that the picture is the same up to the rounding of colours.
import {PLACES, QUAD, STEPS, sheetOfOne} from "./raster.js"

const WORDS = 3 // numbers of a mark: where it stands, its mask, its pixel
const MOST_ATLASES = 60

const VERTEX = `#version 300 es
in ivec2 middle; // of a mark, in pixels from the left and from the top
in uint mask;
in vec4 tone;
uniform highp int wide, side, across; // of the picture, of a mask, masks side by side
flat out ivec2 corner;
flat out vec3 colour;
void main() {
  vec2 share = (vec2(middle) + 0.5) / float(wide);
  gl_Position = vec4(2.0 * share.x - 1.0, 1.0 - 2.0 * share.y, 0.0, 1.0);
  gl_PointSize = float(side);
  corner = side * ivec2(int(mask) % across, int(mask) / across);
  colour = tone.rgb;
}`

const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D masks;
uniform highp int side;
flat in ivec2 corner;
flat in vec3 colour;
out vec4 pixel;
void main() {
  float over = texelFetch(masks, corner + ivec2(gl_PointCoord * float(side)), 0).r;
  if (over == 0.0) discard;
  pixel = vec4(colour, over);
}`

function shader(gl, kind, source) {
  const made = gl.createShader(kind)
  gl.shaderSource(made, source)
  gl.compileShader(made)
  return made
}

// The shaders; throws where they cannot be used.
function linked(gl) {
  const program = gl.createProgram()
  gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, VERTEX))
  gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, FRAGMENT))
  for (const [k, name] of ["middle", "mask", "tone"].entries()) gl.bindAttribLocation(program, k, name)
  gl.linkProgram(program)
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program))
  return program
}

// The masks of a sheet for a picture so many pixels wide, side by side as squares in one image.
function spread({starts, offsets, columns, weights}, wide, most) {
  const lines = offsets.map((offset, k) => (offset - columns[k]) / wide)
  let reach = 0
  for (let k = 0; k < offsets.length; k++) {
    reach = Math.max(reach, -columns[k], columns[k] + QUAD - 1, Math.abs(lines[k]))
  }
  const side = 2 * reach + 1
  const count = starts.length - 1
  const across = Math.min(count, Math.floor(most / side))
  const high = Math.ceil(count / across) * side
  if (high > most) throw new Error(`${count} masks are too many`)
  const opacities = new Uint8Array(across * side * high)
  for (let mask = 0; mask < count; mask++) {
    const left = (mask % across) * side + reach
    const top = Math.floor(mask / across) * side + reach
    for (let quad = starts[mask]; quad < starts[mask + 1]; quad++) {
      const at = (top + lines[quad]) * across * side + left + columns[quad]
      for (let k = 0; k < QUAD; k++) opacities[at + k] = Math.round((255 * weights[QUAD * quad + k]) / 256)
    }
  }
  return {side, across, high, opacities}
}

export class WebGLRaster {
  // Throws where the browser has no WebGL 2.
  constructor() {
    this.canvas = new OffscreenCanvas(1, 1)
    const options = {alpha: false, antialias: false, depth: false, stencil: false}
    const gl = this.canvas.getContext("webgl2", options)
    if (!gl) throw new Error("there is no WebGL 2")
    this.gl = gl
    this.atlases = new Map()
    this.words = new Uint32Array(0)
    this.program = linked(gl)
    gl.useProgram(this.program)
    this.at = Object.fromEntries(
      ["wide", "side", "across"].map((name) => [name, gl.getUniformLocation(this.program, name)]),
    )
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer())
    for (const place of [0, 1, 2]) gl.enableVertexAttribArray(place)
    gl.vertexAttribIPointer(0, 2, gl.SHORT, 4 * WORDS, 0)
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_INT, 4 * WORDS, 4)
    gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, 4 * WORDS, 8)
    gl.enable(gl.BLEND)
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ZERO, gl.ONE)
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1)
    this.below = gl.createTexture()
    this.source = gl.createFramebuffer()
  }

  // Begin with an opaque picture, an ImageData (wide x wide).
  begin(below) {
    const {gl, canvas} = this
    const wide = below.width
    if (canvas.width < wide) {
      canvas.width = wide
      canvas.height = wide
    }
    this.wide = wide
    this.marks = []
    gl.viewport(0, canvas.height - wide, wide, wide)
    gl.uniform1i(this.at.wide, wide)
    gl.bindTexture(gl.TEXTURE_2D, this.below)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, wide, wide, 0, gl.RGBA, gl.UNSIGNED_BYTE, below.data)
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.source)
    gl.framebufferTexture2D(gl.READ_FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.below, 0)
    const {height} = canvas // of which the picture takes the upper left
    gl.blitFramebuffer(0, 0, wide, wide, 0, height, wide, height - wide, gl.COLOR_BUFFER_BIT, gl.NEAREST)
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null)
  }

  // As `blitRows` of `Raster`.
  blitRows({frame, order, places, looks, shares, tones, sheet}) {
    const [across, right, up, down, low, high, above, below] = frame
    const known = Math.min(places.length / 2, looks.length, shares.length, tones.length)
    this.drawMarks()
    const words = this.room(order.length)
    let count = 0
    for (const row of order) {
      if (row >= known) continue
      const x = places[2 * row] * across + right
      const y = places[2 * row + 1] * up + down
      if (!(x >= low && x <= high && y >= above && y <= below)) continue // nor what is NaN
      put(words, count++, x, y, shares[row] * sheet.looks + looks[row], tones[row])
    }
    this.draw(count, [[sheet, 0, count]])
  }

  // As `blitMark` of `Raster`; marks wait for those that are drawn with them.
  blitMark(look, share, ratio, x, y, tone) {
    this.marks.push([sheetOfOne(look, share, ratio, this.wide), x, y, tone])
  }

  drawMarks() {
    if (!this.marks.length) return
    const words = this.room(this.marks.length)
    const runs = []
    for (const [k, [sheet, x, y, tone]] of this.marks.entries()) {
      put(words, k, x, y, 0, tone)
      if (runs.at(-1)?.[0] === sheet) runs.at(-1)[2] += 1
      else runs.push([sheet, k, 1])
    }
    this.draw(this.marks.length, runs)
    this.marks = []
  }

  room(count) {
    if (this.words.length < WORDS * count) this.words = new Uint32Array(WORDS * count)
    return this.words
  }

  // Draw the first marks of the words; runs: sheet, first mark and number of those that have its masks.
  draw(count, runs) {
    const {gl} = this
    gl.bufferData(gl.ARRAY_BUFFER, this.words.subarray(0, WORDS * count), gl.STREAM_DRAW)
    for (const [sheet, first, number] of runs) {
      this.bind(sheet)
      gl.drawArrays(gl.POINTS, first, number)
    }
  }

  bind(sheet) {
    const {gl, atlases} = this
    if (!atlases.has(sheet)) {
      if (atlases.size > MOST_ATLASES) this.forget()
      atlases.set(sheet, this.atlas(sheet))
    }
    const {texture, side, across} = atlases.get(sheet)
    gl.bindTexture(gl.TEXTURE_2D, texture)
    gl.uniform1i(this.at.side, side)
    gl.uniform1i(this.at.across, across)
  }

  atlas(sheet) {
    const {gl} = this
    const {side, across, high, opacities} = spread(sheet, this.wide, gl.getParameter(gl.MAX_TEXTURE_SIZE))
    const texture = gl.createTexture()
    gl.bindTexture(gl.TEXTURE_2D, texture)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, across * side, high, 0, gl.RED, gl.UNSIGNED_BYTE, opacities)
    return {texture, side, across}
  }

  forget() {
    for (const {texture} of this.atlases.values()) this.gl.deleteTexture(texture)
    this.atlases.clear()
  }

  // Give its memory back; it cannot be used any more.
  close() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext()
  }

  // As `show` of `Raster`; false: the hardware was lost.
  show(pen, x, y) {
    const {gl, canvas, wide} = this
    this.drawMarks()
    if (gl.isContextLost()) return false
    pen.setTransform(1, 0, 0, 1, 0, 0)
    pen.drawImage(canvas, 0, 0, wide, wide, x, y, wide, wide)
    return true
  }
}

// Write a mark: the pixel in which its middle lies, the mask for its place within that pixel, its tone.
function put(words, k, x, y, number, tone) {
  const column = Math.floor(x)
  const line = Math.floor(y)
  words[WORDS * k] = (line << 16) | (column & 0xffff)
  words[WORDS * k + 1] = PLACES * number + Math.floor((x - column) * STEPS) + STEPS * Math.floor((y - line) * STEPS)
  words[WORDS * k + 2] = tone
}
