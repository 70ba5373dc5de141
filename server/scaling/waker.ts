import type { Database } from '../database/index.ts'
import { reconcilerName } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Router } from '../routers/index.ts'
import type { Announcer } from './announcer.ts'
import { startWaking } from './scaling-store.ts'

export interface WakerOptions extends Announcer {
  readonly database: Database
  /** The router that it listens to, with the name of its first engine. */
  readonly router: Pick<Router, 'wakes'>
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** Called if requests wait although no service of theirs sleeps: the router has an old table. */
  readonly refreshRoutes: () => void
  /** Called whenever the router does not answer. */
  readonly missed: () => void
}

/** The time after which the router is asked again, with or without news. */
const patienceMs = 20_000
/** The pause while the router does not answer. */
const pauseMs = 500

/**
 * Asks the router for which sleeping services requests wait, and has them started: once for each
 * service, however many requests wait.
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
        // The next process is asked soon, for everything that it has.
        options.missed()
        sequence = -1
        return clock.sleep(pauseMs, signal)
      }
      const services = wakes.services.filter((id) => parseId(id) !== undefined)
      const woken = services.length === 0 ? [] : await startWaking(database, services, clock.now())
      sequence = wakes.sequence
      for (const id of woken) {
        log.info({ serviceId: id }, 'a sleeping service is started for a request')
        options.changed(id, 'It wakes up for a request.')
      }
      if (woken.length < services.length) options.refreshRoutes()
    },
  }
}
