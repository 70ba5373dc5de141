import { once } from 'node:events'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { createOwnRouter } from '../../server/routers/index.ts'
import { certifiedHosts, hostAt, hostCount, routeAt } from '../certified.ts'
import type { Benchmark, Session } from '../figure.ts'
import { median } from '../paired.ts'
import { killProcess } from '../processes.ts'
import { startNamed } from '../route-change.ts'
import { haproxyOf, startAgain, startRouterProcess, withoutAndWith } from '../router-process.ts'

const rounds = 5

/**
 * Measures the start of a router that has stored ten thousand routes with certificates, until the
 * first, the last and one more of the hosts have answered over TLS; without and with HAProxy.
 */
export const starts: Benchmark = {
  figures: ['front-start', 'front-start-haproxy'],
  group: 'fronts',
  measure: (session) => withoutAndWith(session, 'front-start', { unit: 's', limit: 2 }, measureStarts),
}

/** Returns the median of the starts, in seconds. */
async function measureStarts(session: Session, program?: string): Promise<number> {
  const source = await certifiedHosts()
  const { process, pid: first } = await startRouterProcess(session, source, { haproxy: program })
  const app = await startNamed(session, 'here')
  const routes = Array.from({ length: hostCount }, (_, index) => routeAt(index, app))
  await createOwnRouter({ process, certificates: source }).replaceAll(routes, AbortSignal.timeout(30_000))
  const took: number[] = []
  let pid = first
  for (let round = 0; round < rounds; round++) {
    const front = program === undefined ? [] : [await haproxyOf(process)]
    for (const one of [pid, ...front]) await killProcess(one)
    const startedAt = clock.monotonic()
    pid = await startAgain(session, process)
    for (const index of [hostCount - 1, 0, (round * 7_919) % hostCount]) {
      const seen = await askOver(process.tls.port, hostAt(index))
      if (seen !== 'here') throw new Error(`after the start, ${hostAt(index)} answered "${seen}"`)
    }
    took.push((clock.monotonic() - startedAt) / 1_000)
  }
  session.say(`  ${program ?? 'the router alone'}: ${took.map((one) => one.toFixed(2)).join(', ')} s`)
  return median(took)
}

async function askOver(port: number, host: string): Promise<string> {
  const to = { host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, agent: false }
  const asked = request({ ...to, headers: { host } }).end()
  const [response] = await once(asked, 'response')
  return text(response)
}
