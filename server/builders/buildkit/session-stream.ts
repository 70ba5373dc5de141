import { type Duplex, PassThrough } from 'node:stream'
import type { DaemonClient } from './daemon-client.ts'
import { joinStream } from './joined-stream.ts'

/** BuildKit reads messages of at most 16 MiB. Small ones slow down base images. */
const pieceBytes = 1024 * 1024

/**
 * Opens the session of a build. Its bytes are a connection in the other direction, in which
 * BuildKit is the client.
 */
export function openSessionStream({ control }: DaemonClient, id: string, signal: AbortSignal): Duplex {
  const outgoing = new PassThrough()
  async function* sent(): AsyncGenerator<{ readonly data: Uint8Array<ArrayBuffer> }> {
    for await (const bytes of outgoing) {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield { data: bytes.subarray(at, at + pieceBytes) }
    }
  }
  const headers = { 'x-docker-expose-session-uuid': id, 'x-docker-expose-session-name': 'quayside' }
  const answers = control.session(sent(), { headers, signal })
  async function* arriving(): AsyncGenerator<Uint8Array> {
    for await (const { data } of answers) yield data
  }
  return joinStream(arriving(), outgoing)
}
