import { absolute, atMost, type Benchmark } from '../figure.ts'
import { median, quantile } from '../paired.ts'
import { startBoth } from './both.ts'
import { mostOneByOne, type Timed, timesOf, type Wire } from './h2load.ts'
import { type Front, host } from './programs.ts'

const rounds = 9
const seconds = 3
const measured = ['http', 'h2'] as const satisfies readonly Wire[]
const windowMicros = 250_000
const nameOf = (wire: Wire): string => `front-added-${wire}`

/**
 * Measures by how much the p99 of a request through our router exceeds the one through HAProxy
 * alone. Both get half the requests a second that our router answers, if each connection has one
 * request at a time: requests at random moments seldom meet at a connection.
 */
export const latency: Benchmark = {
  figures: measured.map(nameOf),
  group: 'fronts',
  async measure(session) {
    const both = await startBoth(session)
    if (!both) return []
    const figures = []
    for (const wire of measured) {
      const to = ({ port, tlsPort }: Front) => ({ wire, host, port: wire === 'http' ? port : tlsPort })
      await mostOneByOne({ ...to(both.own), seconds: 1 })
      const half = (await mostOneByOne({ ...to(both.own), seconds: 3 })) / 2
      const p99 = async (front: Front): Promise<number> =>
        usualP99(await timesOf({ ...to(front), seconds }, half)) / 1000
      const floors = [await p99(both.haproxy)]
      const added: number[] = []
      for (let round = 0; round < rounds; round++) {
        const own = await p99(both.own)
        floors.push(await p99(both.haproxy))
        added.push(own - ((floors[round] ?? 0) + (floors[round + 1] ?? 0)) / 2)
      }
      const each = added.map((one) => one.toFixed(2)).join(', ')
      session.say(
        `  ${wire}: ${half.toFixed(0)} requests/s; p99 of HAProxy ${median(floors).toFixed(2)} ms, ours ${each} more`,
      )
      figures.push(absolute(nameOf(wire), median(added), 'ms', atMost(1)))
    }
    return figures
  },
}

/**
 * Returns the median of the p99 of each quarter of a second. Machines stall for some ten
 * milliseconds now and then, which the p99 of all requests would be about.
 */
function usualP99(times: readonly Timed[]): number {
  const windows = Map.groupBy(times, ({ at }) => Math.floor(at / windowMicros))
  return median(
    Array.from(windows.values(), (own) =>
      quantile(
        own.map(({ micros }) => micros),
        0.99,
      ),
    ),
  )
}
