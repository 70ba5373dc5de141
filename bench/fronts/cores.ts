import { run } from '../../server/lib/run.ts'
import { atLeast, type Benchmark, type Figure, relative } from '../figure.ts'
import { paired } from '../paired.ts'
import { startBoth } from './both.ts'
import { loadFront, type Wire, wires } from './h2load.ts'
import { type Front, host } from './programs.ts'

const rounds = 5
const seconds = 2
const nameOf = (wire: Wire): string => `front-cores-${wire}`

/**
 * Measures how many times the requests a second a front answers on two cores instead of one, ours
 * beside HAProxy alone. The load program and the application are not bound to cores.
 */
export const cores: Benchmark = {
  figures: wires.map(nameOf),
  group: 'fronts',
  async measure(session) {
    const both = await startBoth(session)
    if (!both) return []
    const figures: Figure[] = []
    for (const wire of wires) {
      const growth = async (front: Front): Promise<number> => {
        const load = { wire, host, port: wire === 'http' ? front.port : front.tlsPort, seconds }
        await bind(front, '0')
        const one = await loadFront(load)
        await bind(front, '0,1')
        return (await loadFront(load)) / one
      }
      const { own } = await paired(
        rounds,
        () => growth(both.haproxy),
        async () => ({ own: await growth(both.own) }),
      )
      figures.push(relative(nameOf(wire), own, '× one core', atLeast(0.9)))
    }
    return figures
  },
}

/** Binds all threads of a front to these cores. */
async function bind({ pids }: Front, list: string): Promise<void> {
  for (const pid of pids) {
    const { exitCode, stderr } = await run('taskset', ['-acp', list, String(pid)], { timeoutMs: 10_000 })
    if (exitCode !== 0) throw new Error(`a front cannot be bound to cores ${list}: ${stderr}`)
  }
}
