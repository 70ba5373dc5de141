import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Each } from '../lib/roster.ts'
import { createAnnouncer, type ServiceObserver } from '../observations/index.ts'
import { createScaler, createSleeper, createWaker } from '../scaling/index.ts'
import type { Foundation } from './foundation.ts'

/** Adds replicas under load, puts idle services to sleep, and wakes them on a request. */
export function createScaling(
  { database, engines, routers, log, lines }: Foundation,
  observer: ServiceObserver,
  { nudgeRoutes, missedRouter }: { readonly nudgeRoutes: () => void; readonly missedRouter: () => void },
  stopping: AbortSignal,
): readonly Each<readonly Reconciler[]>[] {
  const given = { database, clock, log, ...createAnnouncer({ log, lines, observer, stopping }) }
  return [
    engines.each((named) => [createScaler({ ...given, ...named })]),
    routers.each((scoped) => [
      createSleeper({ ...given, ...scoped }),
      createWaker({ ...given, ...scoped, refreshRoutes: nudgeRoutes, missed: missedRouter }),
    ]),
  ]
}
