import type { Database } from '../database/index.ts'
import { reconcilerName } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import type { Router } from '../routers/index.ts'
import type { Reconciler } from '../workflows/index.ts'
import type { Announcer } from './announcer.ts'
import { startWaking } from './scaling-store.ts'

export interface WakerOptions extends Announcer {
  readonly database: Database
  /** The router that it listens to, with the name of its first engine. */
  readonly router: Pick<Router, 'wakes'>
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** Requests wait although nothing of theirs is asleep: the router has an old table. */
  readonly refreshRoutes: () => void
}

/** The question is asked again after that long, whether or not there was news. */
const patienceMs = 20_000
/** While the router is away. */
const pauseMs = 500

/**
 * Hears from the router for which sleeping services requests wait, and has them started: once for
 * each, however many wait.
 */
export function createWaker(options: WakerOptions): Reconciler {
  const { database, router, name, clock, log } = options
  let sequence = -1
  return {
    name: reconcilerName('wake', name),
    everyMs: 1,
    reconcile: async (signal) => {
      const wakes = await router.wakes(sequence, patienceMs, signal).catch(() => undefined)
      if (!wakes) {
        // Whoever supervises the router tells of its absence. Its next process is asked soon, and
        // for all that it has.
        sequence = -1
        return clock.sleep(pauseMs, signal)
      }
      const services = wakes.services.filter((id) => parseId(id) !== undefined)
      const woken = await startWaking(database, services, clock.now())
      sequence = wakes.sequence
      for (const id of woken) {
        log.info({ serviceId: id }, 'a request came for a service that sleeps; it is started')
        options.changed(id, 'A request came: it wakes up.')
      }
      if (woken.length < services.length) options.refreshRoutes()
    },
  }
}
