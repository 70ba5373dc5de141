import { accessToken } from './session.ts'

// A stream of the API over a WebSocket, which is connected again when it breaks.

const firstWaitMs = 500
const longestWaitMs = 10_000

export interface SocketStream {
  readonly path: string
  /** Returns the parameters of the next connection, which may begin after the last message. */
  query(): Readonly<Record<string, string>>
  /** Receives each message as JSON. */
  onMessage(message: unknown): void
}

/** Follows a stream. Returns a function that ends it. */
export function followSocket(stream: SocketStream): () => void {
  const ended = new AbortController()
  void follow(stream, ended.signal)
  return () => ended.abort()
}

async function follow(stream: SocketStream, signal: AbortSignal): Promise<void> {
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const count = await connectOnce(stream, signal).catch(() => 0)
    if (count > 0) waitMs = firstWaitMs
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

/** Follows until the connection ends. Returns the number of messages. */
async function connectOnce({ path, query, onMessage }: SocketStream, signal: AbortSignal): Promise<number> {
  const url = new URL(path, location.origin.replace(/^http/, 'ws'))
  for (const [name, value] of Object.entries(query())) url.searchParams.set(name, value)
  const token = await accessToken()
  if (signal.aborted) return 0
  const socket = new WebSocket(url, ['v1', `auth.bearer.${token}`])
  const { promise, resolve } = Promise.withResolvers<number>()
  const close = (): void => socket.close()
  let count = 0
  signal.addEventListener('abort', close)
  socket.addEventListener('message', ({ data }) => {
    count++
    // Messages that were on their way when somebody left belong to nobody.
    if (!signal.aborted) onMessage(JSON.parse(String(data)))
  })
  socket.addEventListener('close', () => {
    signal.removeEventListener('abort', close)
    resolve(count)
  })
  return promise
}
