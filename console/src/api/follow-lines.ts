import type { LineStore } from './line-store.ts'
import { accessToken } from './session.ts'

/** The objects that name a service in a stream. They must belong together. */
export interface ServicePlace {
  readonly organization: string
  readonly cluster: string
  readonly project: string
  readonly environment: string
  readonly service: string
}

const firstWaitMs = 500
const longestWaitMs = 10_000
const lastLines = 1_000

/**
 * Adds the last lines of a service that contain the text to the store, and then new ones. Connects
 * again if the connection breaks. Returns a function that ends it.
 */
export function followLines(store: LineStore, place: ServicePlace, text: string): () => void {
  const ended = new AbortController()
  void follow(store, place, text, ended.signal)
  return () => ended.abort()
}

async function follow(store: LineStore, place: ServicePlace, text: string, signal: AbortSignal): Promise<void> {
  let start = ''
  for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    const received = await connectOnce({ store, place, text, start }, signal).catch(() => '')
    if (received !== '') [start, waitMs] = [received, firstWaitMs]
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}

interface Following {
  readonly store: LineStore
  readonly place: ServicePlace
  readonly text: string
  /** The time of the last line that was received. */
  readonly start: string
}

/** Follows until the connection ends. Returns the time of the last line. */
async function connectOnce({ store, place, text, start }: Following, signal: AbortSignal): Promise<string> {
  const url = new URL('/service/logs', location.origin.replace(/^http/, 'ws'))
  const query = { ...place, limit: String(lastLines), ...(text && { query: text }), ...(start && { start }) }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  const token = await accessToken()
  if (signal.aborted) return start
  const socket = new WebSocket(url, ['v1', `auth.bearer.${token}`])
  const { promise, resolve } = Promise.withResolvers<string>()
  let last = start
  const close = (): void => socket.close()
  signal.addEventListener('abort', close)
  socket.addEventListener('message', ({ data }) => {
    const { created_at: at, pod_name: pod, message } = Object(JSON.parse(String(data)))
    last = new Date(Number(at)).toISOString()
    store.push({ at: Number(at), pod: String(pod ?? ''), text: String(message) })
  })
  socket.addEventListener('close', () => {
    signal.removeEventListener('abort', close)
    resolve(last)
  })
  return promise
}
