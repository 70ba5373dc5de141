/**
 * How often a header was sent, from its names and values in turn; `name` in lower case. Parsers
 * keep one and tell of no other.
 */
export function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const sent = rawHeaders[index] ?? ''
    if (sent.length === name.length && sent.toLowerCase() === name) count++
  }
  return count
}
