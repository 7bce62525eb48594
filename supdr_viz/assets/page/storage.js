// What a tab remembers; a browser may forbid it, then it remembers nothing.
export function remember(name, text) {
  try {
    sessionStorage.setItem(name, text)
  } catch {}
}

export function remembered(name) {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

export function forget(name) {
  try {
    sessionStorage.removeItem(name)
  } catch {}
}
