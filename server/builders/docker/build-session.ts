import { randomUUID } from 'node:crypto'
import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import type Docker from 'dockerode'
import type { Secret } from '../../lib/secret.ts'
import { dial } from './dial.ts'
import { frameOf, secretReply, wantedSecret } from './secret-messages.ts'

/** The connection over which BuildKit may ask its client for things while a build runs. */
export interface BuildSession {
  readonly id: string
  close(): void
}

export type BuildSecrets = Readonly<Record<string, Secret>>

const healthPath = '/grpc.health.v1.Health/Check'
const secretPath = '/moby.buildkit.secrets.v1.Secrets/GetSecret'
const grpcStatus = { ok: '0', notFound: '5', tooLarge: '8', unimplemented: '12' } as const
/** A question names one secret. */
const maxQuestionBytes = 16 * 1024

/**
 * Opens a session in which the health check is answered, and the secrets of this build are given to steps that mount them; every other call
 * is "unimplemented", which BuildKit takes for "no credentials, no keys". Not dockerode's own session: that one fails the health check, so
 * that BuildKit drops it after a second, and stays open after a build that was aborted.
 */
export async function openBuildSession(
  docker: Docker,
  secrets: BuildSecrets,
  signal: AbortSignal,
): Promise<BuildSession> {
  const id = randomUUID()
  const socket = await dialSession(docker, id, signal)
  const session = performServerHandshake(socket)
  session.on('stream', (stream, headers) => answer(stream, headers[':path'], secrets))
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
    headers: {
      Upgrade: 'h2c',
      'X-Docker-Expose-Session-Uuid': id,
      'X-Docker-Expose-Session-Name': 'quayside',
      'X-Docker-Expose-Session-Grpc-Method': secretPath,
    },
    statusCodes: { 200: true, 500: 'server error' },
    abortSignal,
  })
  if (socket instanceof Duplex) return socket
  throw new Error('the engine did not switch to the session protocol')
}

function answer(stream: ServerHttp2Stream, path: string | undefined, secrets: BuildSecrets): void {
  stream.on('error', () => stream.destroy())
  // Two bytes: field 1 (status) = 1 (serving).
  if (path === healthPath) reply(stream, Buffer.from([0x08, 0x01]))
  else if (path === secretPath) giveSecret(stream, secrets)
  else refuse(stream, grpcStatus.unimplemented)
}

function giveSecret(stream: ServerHttp2Stream, secrets: BuildSecrets): void {
  const pieces: Buffer[] = []
  let bytes = 0
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes <= maxQuestionBytes) pieces.push(piece)
  })
  stream.on('end', () => {
    if (bytes > maxQuestionBytes) return refuse(stream, grpcStatus.tooLarge)
    const name = wantedSecret(Buffer.concat(pieces))
    const secret = name !== undefined && Object.hasOwn(secrets, name) ? secrets[name] : undefined
    if (secret) reply(stream, secretReply(secret.reveal()))
    else refuse(stream, grpcStatus.notFound)
  })
}

const head = { ':status': 200, 'content-type': 'application/grpc' }

function reply(stream: ServerHttp2Stream, message: Buffer): void {
  stream.respond(head, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': grpcStatus.ok }))
  stream.end(frameOf(message))
}

const refuse = (stream: ServerHttp2Stream, status: string): void =>
  stream.respond({ ...head, 'grpc-status': status }, { endStream: true })
