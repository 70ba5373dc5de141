import { connect } from 'node:net'

/** What was received over one connection. */
export interface RawAnswer {
  /** All bytes, unchanged. */
  readonly text: string
  /** The status of each answer, in order. */
  readonly statuses: readonly number[]
  /** True if the server ended the connection. */
  readonly isClosed: boolean
}

/**
 * Sends bytes unchanged over one connection. Reads until the server ends it, the requested number
 * of answers has arrived, or nothing arrives for `idleMs`.
 */
export function sendRaw(
  origin: string,
  bytes: string | readonly string[],
  options: { readonly answers?: number; readonly idleMs?: number } = {},
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin)
  const { promise, resolve } = Promise.withResolvers<RawAnswer>()
  let text = ''
  const statuses = (): number[] =>
    [...text.matchAll(/(?:^|\n|\}|\r\n)HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]))
  const socket = connect(Number(port), hostname, () => {
    for (const part of [bytes].flat()) socket.write(part, 'latin1')
  })
  const end = (isClosed: boolean): void => {
    socket.destroy()
    resolve({ text, statuses: statuses(), isClosed })
  }
  socket.setTimeout(options.idleMs ?? 3000, () => end(false))
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if (options.answers !== undefined && statuses().length >= options.answers) end(false)
  })
  socket.on('error', () => {})
  socket.on('close', () => end(true))
  return promise
}

/** Returns a request with these header lines, and a body with its length. */
export const rawRequest = (line: string, headers: readonly string[] = [], body?: string): string =>
  [
    `${line} HTTP/1.1`,
    'Host: localhost',
    ...headers,
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`]),
    '',
    body ?? '',
  ].join('\r\n')
