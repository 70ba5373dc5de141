import { SocketHttp } from '../../lib/socket-http.ts'

/**
 * Finds the engine for tests. Tests are skipped with a reason if none answers. They run and fail
 * instead if one was promised (CI or QUAYSIDE_REQUIRE_DOCKER is set).
 */
export async function engineForTests(): Promise<{ socketPath: string; skip: string | false }> {
  const socketPath = (process.env['QUAYSIDE_DOCKER_HOST'] ?? '').replace(/^unix:\/\//, '') || '/var/run/docker.sock'
  const promised = ['CI', 'QUAYSIDE_REQUIRE_DOCKER'].some((name) => process.env[name])
  const reachable = await new SocketHttp({ socketPath })
    .json({ method: 'GET', path: '/_ping', signal: AbortSignal.timeout(30_000) })
    .then(
      () => true,
      () => false,
    )
  return { socketPath, skip: reachable || promised ? false : `no Docker Engine answers at ${socketPath}` }
}
