/** The changes of an organization, as its stream of server-sent events reports them. */
import { ApiError, type ClientOptions } from './client-of.ts'

/** One event. `data` has the fields that docs/api.md lists for its type. */
export interface StreamEvent {
  readonly id: string
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface FollowOptions extends Pick<ClientOptions, 'baseUrl' | 'token' | 'fetch'> {
  readonly organizationId: string
  /** The id after which events are read again. */
  readonly lastId?: string
  readonly signal: AbortSignal
}

/**
 * Yields the events of an organization until the server ends the stream. Throws ApiError if the
 * server refuses it, and TypeError if the connection breaks. Callers connect again with the id of
 * the last event.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<StreamEvent> {
  const { baseUrl, token, fetch: send = fetch, organizationId, lastId, signal } = options
  const credential = typeof token === 'string' ? token : await token()
  const answer = await send(`${baseUrl}/organization/${encodeURIComponent(organizationId)}/stream`, {
    headers: { authorization: `Bearer ${credential}`, ...(lastId ? { 'last-event-id': lastId } : {}) },
    signal,
  })
  if (!answer.ok || !answer.body) throw new ApiError(answer.status, `${answer.status} ${answer.statusText}`)
  let rest = ''
  const text = new TextDecoder()
  for await (const chunk of chunksOf(answer.body)) {
    const blocks = (rest + text.decode(chunk, { stream: true })).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = readEvent(block)
      if (event) yield event
    }
  }
}

/** Not every browser iterates over a stream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    await reader.cancel()
  }
}

/** Pure: reads one block of lines. Returns undefined for comments. An id may be sent alone. */
export function readEvent(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()]
    }),
  )
  const [id, type, data] = [fields.get('id') ?? '', fields.get('event') ?? '', fields.get('data')]
  if (id === '' && type === '') return undefined
  const parsed: unknown = data === undefined ? {} : JSON.parse(data)
  return { id, type, data: typeof parsed === 'object' && parsed !== null ? { ...parsed } : {} }
}
