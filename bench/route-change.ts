import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { systemClock as clock } from '../server/lib/clock.ts'
import { createOwnRouter } from '../server/routers/index.ts'
import { haproxy, missingHaproxy } from '../test/support/haproxy.ts'
import { hostAt, hostCount, routeAt } from './certified.ts'
import { haproxyOf, startCertified } from './certified-router.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { median } from './paired.ts'

const rounds = 15

/**
 * Measures how long the driver takes to change one of ten thousand routes with certificates,
 * without and with HAProxy in front of the router. After each change a request must reach the new
 * endpoint.
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
  const { process, source } = await startCertified(session, program)
  const router = createOwnRouter({ process, certificates: source })
  const ports = [await startNamed(session, 'one'), await startNamed(session, 'two')]
  const routes = Array.from({ length: hostCount }, (_, index) => routeAt(index, 9))
  await router.replaceAll(routes, AbortSignal.timeout(30_000))
  if (program !== undefined) await haproxyOf(session, process)
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const index = (round * 7_919) % hostCount
    routes[index] = routeAt(index, ports[round % 2] ?? 0)
    const startedAt = clock.monotonic()
    await router.replaceAll(routes, AbortSignal.timeout(10_000))
    took.push(clock.monotonic() - startedAt)
    const seen = await askFor(process.port, hostAt(index))
    if (seen !== ['one', 'two'][round % 2]) throw new Error(`after the change, the request reached "${seen}"`)
  }
  took.sort((a, b) => a - b)
  session.say(`  ${program ?? 'the router alone'}: ${took.map((ms) => ms.toFixed(0)).join(', ')} ms`)
  return median(took)
}

/** Starts an application that answers with its name. Returns its port. */
export async function startNamed({ ending }: Session, name: string): Promise<number> {
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
