import { pageHeader } from './unread-page.ts'

const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', pageHeader])

/**
 * Returns the response headers for the client as alternating names and values, in their order and
 * spelling. Undefined if the router cannot forward the body's coding.
 */
export function responseHeaders(raw: readonly (Buffer | string)[]): string[] | undefined {
  const headers: string[] = []
  let connection = ''
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = text(raw[index])
    const value = text(raw[index + 1])
    const lower = name.toLowerCase()
    if (!hopByHop.has(lower)) headers.push(name, value)
    else if (lower === 'connection') connection += `,${value.toLowerCase()}`
    else if (lower === 'transfer-encoding' && value.toLowerCase() !== 'chunked') return undefined
  }
  return connection === '' ? headers : withoutNominated(headers, connection)
}

/** Returns trailers as pairs, without those that would change how the message is read. */
export function trailerPairs(raw: readonly (Buffer | string)[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = text(raw[index])
    if (!framing.has(name.toLowerCase())) pairs.push([name, text(raw[index + 1])])
  }
  return pairs
}

const framing = new Set([...hopByHop, 'content-length', 'host', 'trailer', 'content-encoding', 'set-cookie'])

function withoutNominated(headers: string[], connection: string): string[] {
  if (connection === ',keep-alive' || connection === ',close') return headers
  const names = connection.split(',').map((name) => name.trim())
  const nominated = names.filter((name) => name !== '' && name !== 'keep-alive' && name !== 'close')
  if (nominated.length === 0) return headers
  return headers.filter((_, index) => {
    const name = headers[index - (index % 2)]?.toLowerCase() ?? ''
    return name === 'content-length' || !nominated.includes(name)
  })
}

const text = (part: Buffer | string | undefined): string =>
  part === undefined ? '' : typeof part === 'string' ? part : part.toString('latin1')
