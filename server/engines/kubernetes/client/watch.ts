import type { IncomingMessage } from 'node:http'
import { ForeignJsonProblem, parseForeign } from '../../../lib/foreign-json.ts'
import { isObject } from './is-object.ts'
import { errorOfConnection, KubeError } from './kube-error.ts'
import type { KubeObject } from './objects.ts'

/** A change of an object. A bookmark only says which version has been seen. */
export interface WatchEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'
  readonly object: T
  /** The length of the event as it was sent. */
  readonly bytes: number
}

/** An object has 1.5 MiB at most. */
const longestLineBytes = 4 * 1024 * 1024

/**
 * Reads the events of a watch: one object of JSON a line. Ends when the server ends it. Throws
 * KubeError, with reason `Expired` if the version to begin with is too old.
 */
export async function* readEvents<T extends KubeObject>(
  body: IncomingMessage,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent<T>> {
  try {
    for await (const line of linesOf(body)) yield parseEvent<T>(line)
  } catch (error) {
    signal.throwIfAborted()
    throw errorOfConnection('', error)
  } finally {
    body.destroy()
  }
}

function parseEvent<T extends KubeObject>(line: Buffer): WatchEvent<T> {
  const { type, object } = Object(parsed(line))
  if (type === 'ERROR') throw errorOfEvent(Object(object))
  const isBookmark = type === 'BOOKMARK' && typeof Object(object).metadata === 'object' && object.metadata !== null
  const isChange = (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') && isObject(object)
  if (!isBookmark && !isChange) {
    throw new KubeError(0, 'Unreadable', 'an event of the API server is not a change of an object')
  }
  // The fields of a kind are checked where they are read.
  return { type, object, bytes: line.length } as WatchEvent<T>
}

function parsed(line: Buffer): unknown {
  try {
    return parseForeign(line)
  } catch (cause) {
    if (!(cause instanceof ForeignJsonProblem)) throw cause
    throw new KubeError(0, 'Unreadable', `an event of the API server ${cause.message}`, { cause })
  }
}

function errorOfEvent({ code, reason, message }: Record<string, unknown>): KubeError {
  const status = typeof code === 'number' ? code : 0
  return new KubeError(status, typeof reason === 'string' ? reason : 'Watch', String(message ?? 'the watch failed'))
}

/** Splits at line feeds in linear time: pieces without one are only kept. */
async function* linesOf(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let length = 0
  for await (const piece of body) {
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      pieces.push(piece.subarray(from, end))
      yield Buffer.concat(pieces)
      pieces = []
      length = 0
      from = end + 1
    }
    if (from === piece.length) continue
    pieces.push(piece.subarray(from))
    length += piece.length - from
    if (length > longestLineBytes) throw new KubeError(0, 'TooLong', 'an event of the API server is too long')
  }
}
