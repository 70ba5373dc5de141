import { atLeast, type Benchmark, relative } from '../figure.ts'
import { paired } from '../paired.ts'
import { startBoth } from './both.ts'
import { connectAll } from './h2load.ts'
import { type Front, host } from './programs.ts'

const rounds = 7
/** Connections at once, and how often. */
const [atOnce, times] = [200, 5]

/** Measures new TLS connections a second, each with one request, without resumed sessions. */
export const handshakes: Benchmark = {
  figures: ['front-handshakes'],
  group: 'fronts',
  async measure(session) {
    const both = await startBoth(session)
    if (!both) return []
    const take = async ({ tlsPort: port }: Front): Promise<number> => {
      let seconds = 0
      for (let time = 0; time < times; time++) seconds += await connectAll({ wire: 'tls', host, port }, atOnce)
      return (atOnce * times) / seconds
    }
    await take(both.own)
    const { own } = await paired(
      rounds,
      () => take(both.haproxy),
      async () => ({ own: await take(both.own) }),
    )
    return [relative('front-handshakes', own, 'handshakes/s', atLeast(0.8))]
  },
}
