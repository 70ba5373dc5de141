import { randomUUID } from 'node:crypto'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import { dial } from './dial.ts'

/** The connection over which BuildKit may ask its client for things while a build runs. */
export interface BuildSession {
  readonly id: string
  close(): void
}

/**
 * Opens a session in which only the health check is answered; every other call is "unimplemented", which BuildKit takes for
 * "no credentials, no secrets, no keys". Not dockerode's own session: that one fails the health check, so that BuildKit
 * drops it after a second, and stays open after a build that was aborted.
 */
export async function openBuildSession(docker: Docker, signal: AbortSignal): Promise<BuildSession> {
  const id = randomUUID()
  const socket = await dialSession(docker, id, signal)
  const session = performServerHandshake(socket)
  session.on('stream', answer)
  // The engine closes the connection when the build has ended; nothing is waiting for an answer then.
  session.on('error', () => socket.destroy())
  socket.on('error', () => session.destroy())
  return {
    id,
    close() {
      session.destroy()
      socket.destroy()
    },
  }
}

async function dialSession(docker: Docker, id: string, abortSignal: AbortSignal): Promise<Duplex> {
  const socket = await dial(docker, {
    method: 'POST',
    path: '/session',
    hijack: true,
    headers: { Upgrade: 'h2c', 'X-Docker-Expose-Session-Uuid': id, 'X-Docker-Expose-Session-Name': 'quayside' },
    statusCodes: { 200: true, 500: 'server error' },
    abortSignal,
  })
  if (socket instanceof Duplex) return socket
  throw new Error('the engine did not switch to the session protocol')
}

function answer(stream: ServerHttp2Stream, headers: { readonly ':path'?: string | undefined }): void {
  const head = { ':status': 200, 'content-type': 'application/grpc' }
  stream.on('error', () => stream.destroy())
  if (headers[':path'] !== '/grpc.health.v1.Health/Check') {
    stream.respond({ ...head, 'grpc-status': '12' }, { endStream: true })
    return
  }
  stream.respond(head, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  // A frame without compression, two bytes long: field 1 (status) = 1 (serving).
  stream.end(Buffer.from([0, 0, 0, 0, 2, 0x08, 0x01]))
}
