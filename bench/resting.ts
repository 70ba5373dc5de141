import { systemClock as clock } from '../server/lib/clock.ts'
import { absolute, atMost, type Benchmark } from './figure.ts'
import { createInstallation } from './installation.ts'
import { pssMB, treeOf } from './processes.ts'

const quietMs = 30_000

/**
 * Measures the memory of the server, the router and PostgreSQL with one application, after half a
 * minute without a request.
 */
export const resting: Benchmark = {
  figures: ['idle-memory'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    await clock.sleep(quietMs)
    const parts = {
      server: [await installation.serverPid()],
      router: [(await installation.routerPid()) ?? 0],
      PostgreSQL: await treeOf((await installation.postmasterPid()) ?? 0),
    }
    let sum = 0
    for (const [name, pids] of Object.entries(parts)) {
      const own = (await Promise.all(pids.map(pssMB))).reduce((total, part) => total + part, 0)
      session.say(`  ${name}: ${own.toFixed(1)} MB in ${pids.length} process${pids.length === 1 ? '' : 'es'}`)
      sum += own
    }
    return [absolute('idle-memory', sum, 'MB', atMost(180))]
  },
}
