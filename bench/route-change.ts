import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { systemClock as clock } from '../server/lib/clock.ts'
import { createOwnRouter } from '../server/routers/index.ts'
import { certifiedHosts, hostAt, hostCount, routeAt } from './certified.ts'
import type { Benchmark, Session } from './figure.ts'
import { median } from './paired.ts'
import { haproxyOf, startRouterProcess, withoutAndWith } from './router-process.ts'

const rounds = 15

/**
 * Measures how long the driver takes to change one of ten thousand routes with certificates,
 * without and with HAProxy in front of the router. After each change a request must reach the new
 * endpoint.
 */
export const routeChange: Benchmark = {
  figures: ['route-change', 'route-change-haproxy'],
  measure: (session) => withoutAndWith(session, 'route-change', { unit: 'ms', limit: 50 }, measureChanges),
}

/** Returns the median of the changes. */
async function measureChanges(session: Session, program?: string): Promise<number> {
  const source = await certifiedHosts()
  const { process } = await startRouterProcess(session, source, { haproxy: program })
  const router = createOwnRouter({ process, certificates: source })
  const ports = [await startNamed(session, 'one'), await startNamed(session, 'two')]
  const portAt = new Map<number, number>()
  // The server reads each table from its database, so no object is one of the last table.
  const table = () => Array.from({ length: hostCount }, (_, index) => routeAt(index, portAt.get(index) ?? 9))
  await router.replaceAll(table(), AbortSignal.timeout(30_000))
  if (program !== undefined) await haproxyOf(process)
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    const index = (round * 7_919) % hostCount
    portAt.set(index, ports[round % 2] ?? 0)
    const routes = table()
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
