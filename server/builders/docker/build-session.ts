import { randomUUID } from 'node:crypto'
import { createServer, type ServerHttp2Session } from 'node:http2'
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Health } from '../../lib/grpc/health_pb.ts'
import { Secrets } from '../../lib/grpc/secrets_pb.ts'
import type { Secret } from '../../lib/secret.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'

/** The connection over which BuildKit sends requests to its client while a build runs. */
export interface BuildSession {
  readonly id: string
  close(): void
}

export type BuildSecrets = Readonly<Record<string, Secret>>

/** A request names one secret. */
const maxQuestionBytes = 16 * 1024
const serving = 1

/**
 * Opens a session that answers health checks and returns this build's secrets to steps that mount
 * them. Every other call is "unimplemented", which BuildKit reads as "no credentials, no keys".
 * BuildKit drops a session after a second if it does not answer the health check.
 */
export async function openBuildSession(
  docker: SocketHttp,
  secrets: BuildSecrets,
  signal: AbortSignal,
): Promise<BuildSession> {
  const id = randomUUID()
  const headers = {
    'x-docker-expose-session-uuid': id,
    'x-docker-expose-session-name': 'quayside',
    'x-docker-expose-session-grpc-method': `/${Secrets.typeName}/${Secrets.method.getSecret.name}`,
  }
  const socket = await docker.upgrade({ method: 'POST', path: '/session', headers, signal }, 'h2c')
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => answers(router, secrets),
      fallback: refuse,
      grpcWeb: false,
      connect: false,
      // Secrets are small. BuildKit itself would decide what to decompress.
      acceptCompression: [],
      readMaxBytes: maxQuestionBytes,
    }),
  )
  const sessions: ServerHttp2Session[] = []
  server.on('session', (session) => {
    sessions.push(session)
    // The engine closes the connection when the build has ended. No request is pending then.
    session.on('error', () => socket.destroy())
  })
  socket.on('error', () => socket.destroy())
  server.emit('connection', socket)
  return {
    id,
    close() {
      for (const session of sessions) session.destroy()
      socket.destroy()
    },
  }
}

function answers(router: ConnectRouter, secrets: BuildSecrets): void {
  router.service(Health, { check: () => ({ status: serving }) })
  router.service(Secrets, {
    getSecret({ ID }) {
      const secret = Object.hasOwn(secrets, ID) ? secrets[ID] : undefined
      if (!secret) throw new ConnectError('the build has no secret of that name', Code.NotFound)
      return { data: Buffer.from(secret.reveal()) }
    },
  })
}

/** Answers unknown methods as gRPC does. */
const refuse: NonNullable<Parameters<typeof connectNodeAdapter>[0]['fallback']> = (_, response): void => {
  response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': String(Code.Unimplemented) })
  response.end()
}
