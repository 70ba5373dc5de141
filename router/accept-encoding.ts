/** The codings that the router applies, the preferred one first. */
export const codings = ['zstd', 'br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** Real clients send some twenty characters. A longer header is not read. */
const longest = 500

/**
 * Returns the coding of a response for a request with this `Accept-Encoding` header. Undefined if
 * the client wants the response as it is. Pure, in linear time.
 */
export function chooseCoding(header: string | undefined): Coding | undefined {
  if (header === undefined || header.length > longest) return undefined
  const weights = new Map<string, number>()
  for (const one of header.split(',')) {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    if (name !== '') weights.set(name === 'x-gzip' ? 'gzip' : name, weightIn(parameters))
  }
  const any = weights.get('*') ?? 0
  const weightOf = (name: string): number => weights.get(name) ?? any
  const [best] = codings.toSorted((a, b) => weightOf(b) - weightOf(a))
  const most = best === undefined ? 0 : weightOf(best)
  // A client may prefer no coding to all others.
  return most > 0 && most >= (weights.get('identity') ?? 0) ? best : undefined
}

/** Returns the weight of a coding (RFC 9110, 12.4.2), or 0 if it is invalid. */
function weightIn(parameters: readonly string[]): number {
  const given = parameters.find((one) => one.startsWith('q='))
  if (given === undefined) return 1
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(given.slice(2)) ? Number(given.slice(2)) : 0
}
