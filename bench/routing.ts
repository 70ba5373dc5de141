import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOwnRouter, ensureRouterProcess } from '../server/routers/index.ts'
import { startChild } from './child.ts'
import { atLeast, type Benchmark, relative, type Session } from './figure.ts'
import { load } from './load.ts'
import { paired } from './paired.ts'
import { freePort, killProcess } from './processes.ts'

const rounds = 9
const seconds = 2
const host = 'bench.localhost'

/** Requests a second through the router, against a bare Node proxy in front of the same upstream. */
export const routing: Benchmark = {
  figures: ['router'],
  async measure(session) {
    const ports = { upstream: await freePort(), floor: await freePort(), router: await freePort() }
    await startChild(session, 'floors/upstream.ts', [String(ports.upstream)], ports.upstream)
    await startChild(session, 'floors/proxy.ts', [String(ports.floor), String(ports.upstream)], ports.floor)
    await startRouter(session, ports)
    const through = async (port: number, duration = seconds): Promise<number> =>
      (await load({ port, paths: ['/'], headers: { Host: host }, seconds: duration })).perSecond
    await through(ports.router, 1)
    await through(ports.floor, 1)
    const { router } = await paired(
      rounds,
      () => through(ports.floor),
      async () => ({ router: await through(ports.router) }),
    )
    return [relative('router', router, 'requests/s', atLeast(1.3))]
  },
}

async function startRouter({ ending }: Session, ports: { upstream: number; router: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-router-'))
  ending.defer(() => rm(folder, { recursive: true, force: true }))
  const file = (name: string): string => join(folder, name)
  const controlSocket = file('control.sock')
  const { pid } = await ensureRouterProcess({
    host: '127.0.0.1',
    port: ports.router,
    controlSocket,
    stateFile: file('routes.json'),
    logFile: file('router.log'),
  })
  ending.defer(() => killProcess(pid))
  const endpoints = [{ address: '127.0.0.1', port: ports.upstream }]
  const routes = [{ host, service: 'bench', name: 'bench', endpoints }]
  await createOwnRouter({ controlSocket }).replaceAll(routes, AbortSignal.timeout(5000))
}
