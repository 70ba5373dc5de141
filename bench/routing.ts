import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rulesOf } from '../server/domains/route-rules.ts'
import { createOwnRouter, ensureRouterProcess } from '../server/routers/index.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { bareLoad } from './bare-load.ts'
import { startChild } from './child.ts'
import { atLeast, type Benchmark, relative, type Session } from './figure.ts'
import { paired } from './paired.ts'
import { killProcess } from './processes.ts'

const rounds = 9
const seconds = 2
const host = 'bench.localhost'
/** A host with routes by path. Requests go to paths below them in turn. */
const pathsHost = 'paths.localhost'
const routePaths = Array.from({ length: 50 }, (_, index) => `/service-${index}/api`)

/**
 * Measures requests a second through the router, by host name and by one of fifty paths, against a
 * bare Node proxy in front of the same upstream.
 */
export const routing: Benchmark = {
  figures: ['router', 'router-paths'],
  async measure(session) {
    const ports = { upstream: await findFreePort(), floor: await findFreePort(), router: await findFreePort() }
    await startChild(session, 'floors/upstream.ts', [String(ports.upstream)], ports.upstream)
    await startChild(session, 'floors/proxy.ts', [String(ports.floor), String(ports.upstream)], ports.floor)
    await startRouter(session, ports)
    const through = (port: number, duration = seconds): Promise<number> =>
      bareLoad({ port, host, paths: ['/'], seconds: duration })
    const paths = routePaths.map((path) => `${path}/users?page=1`)
    const byPath = (): Promise<number> => bareLoad({ port: ports.router, host: pathsHost, paths, seconds })
    await through(ports.router, 1)
    await byPath()
    await through(ports.floor, 1)
    const measured = await paired(
      rounds,
      () => through(ports.floor),
      async () => ({ router: await through(ports.router), 'router-paths': await byPath() }),
    )
    return [
      relative('router', measured.router, 'requests/s', atLeast(1.3)),
      relative('router-paths', measured['router-paths'], 'requests/s', atLeast(1.2)),
    ]
  },
}

async function startRouter({ ending }: Session, ports: { upstream: number; router: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-router-'))
  ending.defer(() => rm(folder, { recursive: true, force: true }))
  const file = (name: string): string => join(folder, name)
  const controlSocket = file('control.sock')
  const routerProcess = {
    host: '127.0.0.1',
    port: ports.router,
    controlSocket,
    stateFile: file('routes.json'),
    logFile: file('router.log'),
  }
  const { pid } = await ensureRouterProcess(routerProcess)
  ending.defer(() => killProcess(pid))
  const endpoints = [{ address: '127.0.0.1', port: ports.upstream }]
  // The default limits of every application.
  const rules = rulesOf('application', {}) ?? {}
  const route = { service: 'bench', name: 'bench', endpoints, rules }
  const byPath = routePaths.map((path) => ({ host: pathsHost, path, ...route }))
  const routes = [{ host, ...route }, ...byPath]
  await createOwnRouter({ process: routerProcess }).replaceAll(routes, AbortSignal.timeout(5000))
}
