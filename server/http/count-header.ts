/**
 * Counts how often a header was sent. `rawHeaders` alternates names and values; `name` is in lower
 * case. Parsers keep one of several headers and hide the others.
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? ''
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}
