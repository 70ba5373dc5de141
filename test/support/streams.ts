import { type IncomingMessage, request } from 'node:http'
import { WebSocket } from 'ws'
import { until } from './until.ts'

/** What a client of a WebSocket received. */
export interface SocketClient {
  /** The parsed JSON messages, in order. */
  readonly messages: unknown[]
  /** Returns the content of all binary frames. */
  readonly bytes: () => string
  readonly socket: WebSocket
  /** Resolves when the socket is closed. If it was never opened, `status` is that of the answer. */
  readonly ended: Promise<{ readonly code: number; readonly reason: string; readonly status: number | undefined }>
  /** Returns the `X-Qovery-Request-Id` of the answer, if it has arrived. */
  readonly requestId: () => string | undefined
  /** Returns the `Retry-After` of an answer that refused the socket. */
  readonly retryAfter: () => string | undefined
}

export interface SocketOptions {
  readonly token?: string | undefined
  readonly origin?: string
  readonly protocols?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Connects. `target` is path and query. */
export function openSocket(origin: string, target: string, options: SocketOptions = {}): SocketClient {
  const { token, protocols = [], headers } = options
  const socket = new WebSocket(`${origin.replace(/^http/, 'ws')}${target}`, [...protocols], {
    ...(options.origin === undefined ? {} : { origin: options.origin }),
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    perMessageDeflate: false,
  })
  const messages: unknown[] = []
  let bytes = ''
  let status: number | undefined
  let retryAfter: string | undefined
  const { promise, resolve } = Promise.withResolvers<Awaited<SocketClient['ended']>>()
  let requestId: string | undefined
  const noteId = ({ headers: { 'x-qovery-request-id': id } }: IncomingMessage): void => {
    requestId = id?.toString()
  }
  socket.on('upgrade', noteId)
  socket.on('message', (data, isBinary) => {
    if (isBinary) bytes += String(data)
    else messages.push(JSON.parse(String(data)))
  })
  socket.on('unexpected-response', (_request, response: IncomingMessage) => {
    status = response.statusCode
    retryAfter = response.headers['retry-after']
    noteId(response)
    response.resume()
    resolve({ code: 0, reason: '', status })
    socket.terminate()
  })
  socket.on('error', () => {})
  socket.on('close', (code, reason) => resolve({ code, reason: String(reason), status }))
  return {
    messages,
    bytes: () => bytes,
    socket,
    ended: promise,
    requestId: () => requestId,
    retryAfter: () => retryAfter,
  }
}

/** An event as the server sent it. */
export interface SentEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

export interface EventsClient {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly events: SentEvent[]
  /** Returns everything received, unchanged. */
  readonly text: () => string
  readonly isOver: () => boolean
  /**
   * Returns whether the server ended the stream with a last chunk. A dropped connection has none.
   */
  readonly isWhole: () => boolean
  /** Returns the last id, as a client sends it when it reconnects. */
  readonly lastId: () => string | undefined
  close(): void
}

/** Follows server-sent events. */
export async function openEvents(
  origin: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventsClient> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const asked = request(`${origin}${path}`, { headers, agent: false }, resolve)
  asked.on('error', reject)
  asked.end()
  const response = await promise
  const events: SentEvent[] = []
  let [text, rest, lastId, isOver] = ['', '', '', false]
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      lastId = field('id') ?? lastId
      if (field('data') !== undefined) events.push({ id: field('id'), event: field('event'), data: field('data') })
    }
  })
  response.on('close', () => {
    isOver = true
  })
  response.on('error', () => {})
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    text: () => text,
    isOver: () => isOver,
    isWhole: () => response.complete,
    lastId: () => lastId || undefined,
    close: () => asked.destroy(),
  }
}

/** Waits for an event of that type and returns it. */
export const eventOf = (client: EventsClient, type: string): Promise<SentEvent> =>
  until(`an event ${type}`, () => client.events.find(({ event }) => event === type), { seen: () => client.events })
