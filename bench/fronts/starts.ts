import { once } from 'node:events'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { createOwnRouter } from '../../server/routers/index.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { hostAt, hostCount, routeAt } from '../certified.ts'
import { haproxyOf, startAgain, startCertified } from '../certified-router.ts'
import { absolute, atMost, type Benchmark, type Session } from '../figure.ts'
import { median } from '../paired.ts'
import { killProcess } from '../processes.ts'
import { startNamed } from '../route-change.ts'

const rounds = 5

/**
 * Measures the start of a router that has stored ten thousand routes with certificates, until the
 * first, the last and one more of the hosts have answered over TLS; without and with HAProxy.
 */
export const starts: Benchmark = {
  figures: ['front-start', 'front-start-haproxy'],
  group: 'fronts',
  async measure(session) {
    const figures = [absolute('front-start', await measureStarts(session), 's', atMost(2))]
    const missing = await missingHaproxy()
    if (missing) session.say(`front-start-haproxy is not measured: ${missing}`)
    else figures.push(absolute('front-start-haproxy', await measureStarts(session, haproxy), 's', atMost(2)))
    return figures
  },
}

/** Returns the median of the starts, in seconds. */
async function measureStarts(session: Session, program?: string): Promise<number> {
  const { process, source, pid: first } = await startCertified(session, program)
  const app = await startNamed(session, 'here')
  const routes = Array.from({ length: hostCount }, (_, index) => routeAt(index, app))
  await createOwnRouter({ process, certificates: source }).replaceAll(routes, AbortSignal.timeout(30_000))
  const took: number[] = []
  let pid = first
  for (let round = 0; round < rounds; round++) {
    const front = program === undefined ? [] : [await haproxyOf(session, process)]
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
  const asked = request({ ...to, headers: { host: `${host}:${port}` } }).end()
  const [response] = await once(asked, 'response')
  return text(response)
}
