// Rows: the order in which they are drawn, where they stand, which of them a mask of bits holds, whom they are joined to.
import constants from "./constants.json" with {type: "json"}

// A step by which all of so many rows are reached, neighbours in the table far apart: none of the classes lies on top.
export function strideOf(count) {
  const divisor = (a, b) => (b ? divisor(b, a % b) : a)
  let stride = Math.max(1, Math.round(count * constants.rows.stride))
  while (divisor(count, stride) > 1) stride += 1
  return stride
}

export const placeOf = (frame, places, row) => [frame.x(places[2 * row]), frame.y(places[2 * row + 1])]

export const bit = (bits, row) => (bits[row >> 3] >> (row & 7)) & 1

// The rows that a row is joined to: its line of a table that ends with -1.
export function linkedRows(table, row) {
  const wide = table.shape[1]
  const rows = Array.from(table.subarray(row * wide, (row + 1) * wide))
  return rows.filter((other) => other >= 0)
}
