import { randomUUID } from 'node:crypto'
import { Secrets } from '../../lib/grpc/secrets_pb.ts'
import type { SocketHttp } from '../../lib/socket-http.ts'
import { type BuildSecrets, serveSession } from '../session-server.ts'

/** The connection over which BuildKit sends requests to its client while a build runs. */
export interface BuildSession {
  readonly id: string
  close(): void
}

/** Opens a session of Docker's BuildKit that returns this build's secrets. */
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
  return { id, close: serveSession(socket, { secrets }) }
}
