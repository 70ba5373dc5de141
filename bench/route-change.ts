import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Route } from '@quayside/contract/routes.ts'
import { rulesOf } from '../server/domains/route-rules.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { createOwnRouter, ensureRouterProcess } from '../server/routers/index.ts'
import { findRouter } from '../server/routers/own/find-router.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../test/support/haproxy.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { killProcess } from './processes.ts'

const routeCount = 10_000
const rounds = 15

/**
 * Measures how long the driver takes to change one of ten thousand routes, without and with HAProxy
 * in front of the router. After each change a request must reach the new endpoint.
 */
export const routeChange: Benchmark = {
  figures: ['route-change', 'route-change-haproxy'],
  async measure(session) {
    const figures = [absolute('route-change', await measureChanges(session), 'ms', atMost(50))]
    const missing = await missingHaproxy()
    if (missing) session.say(`route-change-haproxy is not measured: ${missing}`)
    else figures.push(absolute('route-change-haproxy', await measureChanges(session, haproxy), 'ms', atMost(50)))
    return figures
  },
}

/** Returns the median of the changes. */
async function measureChanges(session: Session, program?: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-bench-change-'))
  session.ending.defer(() => rm(folder, { recursive: true, force: true }))
  const options = {
    host: '127.0.0.1',
    port: await findFreePort(),
    controlSocket: join(folder, 'control.sock'),
    stateFile: join(folder, 'routes.json'),
    logFile: join(folder, 'router.log'),
    ...(program !== undefined && { haproxy: program }),
  }
  const { pid } = await ensureRouterProcess(options)
  session.ending.defer(() => killProcess(pid))
  const { haproxyPid } = (await findRouter(options)) ?? {}
  if (typeof haproxyPid === 'number') session.ending.defer(() => killProcess(haproxyPid))
  const router = createOwnRouter({ process: options })
  const ports = [await startNamed(session, 'one'), await startNamed(session, 'two')]
  const rules = rulesOf('application', {}) ?? {}
  const route = (index: number, port: number): Route => {
    const endpoints = [{ address: '127.0.0.1', port }]
    return { host: `app-${index}.test`, service: `s${index}`, name: 'shop', rules, endpoints }
  }
  const routes = Array.from({ length: routeCount }, (_, index) => route(index, 9))
  await router.replaceAll(routes, AbortSignal.timeout(30_000))
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const index = (round * 7_919) % routeCount
    routes[index] = route(index, ports[round % 2] ?? 0)
    const startedAt = clock.monotonic()
    await router.replaceAll(routes, AbortSignal.timeout(10_000))
    took.push(clock.monotonic() - startedAt)
    const seen = await askFor(options.port, `app-${index}.test`)
    if (seen !== ['one', 'two'][round % 2]) throw new Error(`after the change, the request reached "${seen}"`)
  }
  took.sort((a, b) => a - b)
  session.say(`  ${program ?? 'the router alone'}: ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  return took[Math.floor(rounds / 2)] ?? 0
}

/** Starts an application that answers with its name. Returns its port. */
async function startNamed({ ending }: Session, name: string): Promise<number> {
  const server = createServer((_, response) => response.end(name)).listen(0, '127.0.0.1')
  ending.defer(() => {
    server.close()
    server.closeAllConnections()
    return Promise.resolve()
  })
  await once(server, 'listening')
  const bound = server.address() as AddressInfo // A port, not a path.
  return bound.port
}

async function askFor(port: number, host: string): Promise<string> {
  const asked = request({ host: '127.0.0.1', port, headers: { host }, agent: false }).end()
  const [response] = await once(asked, 'response')
  return text(response)
}
