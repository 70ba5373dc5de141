import { accessToken } from './session.ts'

// A stream of the API over a WebSocket, which is connected again when it breaks.

const firstWaitMs = 500
const longestWaitMs = 10_000
/** The close codes of the API: the regular end, an invalid query, and a refusal. */
const [done, invalid, refused] = [1000, 1007, 1008]

export interface SocketStream {
  readonly path: string
  /** Returns the parameters of the next connection, which may begin after the last message. */
  query(): Readonly<Record<string, string>>
  /** Receives each message as JSON. */
  onMessage(message: unknown): void
  /** Called when the server has ended the stream for good. `reason` is empty at a regular end. */
  onEnd?(reason: string): void
}

/** Opens a WebSocket of the API for the person who is signed in. */
export async function openSocket(path: string, query: Iterable<readonly [string, string]>): Promise<WebSocket> {
  const url = new URL(path, location.origin.replace(/^http/, 'ws'))
  for (const [name, value] of query) url.searchParams.append(name, value)
  return new WebSocket(url, ['v1', `auth.bearer.${await accessToken()}`])
}

/** Follows a stream. Returns a function that ends it. */
export function followSocket(stream: SocketStream): () => void {
  const ended = new AbortController()
  void follow(stream, ended.signal)
  return () => ended.abort()
}

async function follow(stream: SocketStream, signal: AbortSignal): Promise<void> {
  let refusals = 0
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const { count, code, reason } = await connectOnce(stream, signal).catch(() => nothing)
    if (signal.aborted) return
    if (count > 0) waitMs = firstWaitMs
    // A token that has expired is refused, too. The next connection has a new one.
    refusals = (code === invalid || code === refused) && count === 0 ? refusals + 1 : 0
    if (code === done || refusals === 2) return stream.onEnd?.(reason)
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

interface Ending {
  /** The number of messages. */
  readonly count: number
  readonly code: number
  readonly reason: string
}
const nothing: Ending = { count: 0, code: 0, reason: '' }

/** Follows until the connection ends. */
async function connectOnce({ path, query, onMessage }: SocketStream, signal: AbortSignal): Promise<Ending> {
  const socket = await openSocket(path, Object.entries(query()))
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const close = (): void => socket.close()
  let count = 0
  signal.addEventListener('abort', close)
  if (signal.aborted) close()
  socket.addEventListener('message', ({ data }) => {
    count++
    // Messages that were on their way when somebody left belong to nobody.
    if (!signal.aborted) onMessage(JSON.parse(String(data)))
  })
  socket.addEventListener('close', ({ code, reason }) => {
    signal.removeEventListener('abort', close)
    resolve({ count, code, reason })
  })
  return promise
}
