import { findFreePort } from '../../test/support/free-port.ts'
import { startChild } from '../child.ts'
import { atLeast, type Benchmark, type Figure, relative } from '../figure.ts'
import { paired } from '../paired.ts'
import { startBoth } from './both.ts'
import { download as take, type Wire } from './h2load.ts'
import { type Front, host } from './programs.ts'

const bytes = 10 * 1024 ** 3
const measured = ['http', 'tls'] as const satisfies readonly Wire[]
const nameOf = (wire: Wire): string => `front-download-${wire}`

/** Measures one response of 10 GiB over one connection: HAProxy, ours, HAProxy. */
export const downloading: Benchmark = {
  figures: measured.map(nameOf),
  group: 'fronts',
  async measure(session) {
    const upstream = await findFreePort()
    await startChild(session, './fronts/zeros.ts', [String(upstream), String(bytes)], upstream)
    const both = await startBoth(session, { upstream })
    if (!both) return []
    const figures: Figure[] = []
    for (const wire of measured) {
      const speed = async ({ port, tlsPort }: Front): Promise<number> =>
        bytes / 1e6 / (await take({ wire, host, port: wire === 'http' ? port : tlsPort }, bytes))
      const { own } = await paired(
        1,
        () => speed(both.haproxy),
        async () => ({ own: await speed(both.own) }),
      )
      figures.push(relative(nameOf(wire), own, 'MB/s', atLeast(0.8)))
    }
    return figures
  },
}
