import { createServer, type ServerHttp2Session } from 'node:http2'
import type { Duplex } from 'node:stream'
import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Health } from '../lib/grpc/health_pb.ts'
import { Secrets } from '../lib/grpc/secrets_pb.ts'
import type { Secret } from '../lib/secret.ts'

export type BuildSecrets = Readonly<Record<string, Secret>>

export interface SessionServices {
  readonly secrets: BuildSecrets
  /** The longest message that BuildKit may send. By default enough for the name of a secret. */
  readonly maxMessageBytes?: number
  /** Adds services to health checks and secrets. */
  readonly more?: (router: ConnectRouter) => void
}

/** A request names one secret. */
const maxQuestionBytes = 16 * 1024
const serving = 1
/** BuildKit sends a few at a time. */
const maxConcurrentStreams = 100

/**
 * Answers the requests that BuildKit sends over a session: health checks, this build's secrets for
 * steps that mount them, and the services of `more`. Every other call is "unimplemented", which
 * BuildKit reads as "no credentials, no keys". BuildKit drops a session after a second if it does
 * not answer the health check. Returns a function that ends the session.
 */
export function serveSession(socket: Duplex, services: SessionServices): () => void {
  const server = createServer(
    { settings: { maxConcurrentStreams } },
    connectNodeAdapter({
      routes: (router) => answers(router, services),
      fallback: refuse,
      grpcWeb: false,
      connect: false,
      // Secrets are small. BuildKit itself would decide what to decompress.
      acceptCompression: [],
      readMaxBytes: services.maxMessageBytes ?? maxQuestionBytes,
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
  return () => {
    for (const session of sessions) session.destroy()
    socket.destroy()
  }
}

function answers(router: ConnectRouter, { secrets, more }: SessionServices): void {
  router.service(Health, { check: () => ({ status: serving }) })
  router.service(Secrets, {
    getSecret({ ID }) {
      const secret = Object.hasOwn(secrets, ID) ? secrets[ID] : undefined
      if (!secret) throw new ConnectError('the build has no secret of that name', Code.NotFound)
      return { data: Buffer.from(secret.reveal()) }
    },
  })
  more?.(router)
}

/** Answers unknown methods as gRPC does. */
const refuse: NonNullable<Parameters<typeof connectNodeAdapter>[0]['fallback']> = (_, response): void => {
  response.writeHead(200, { 'content-type': 'application/grpc', 'grpc-status': String(Code.Unimplemented) })
  response.end()
}
