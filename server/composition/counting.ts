import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Each } from '../lib/roster.ts'
import { createTrafficCollector } from '../traffic/index.ts'
import type { Foundation } from './foundation.ts'

/** Takes the numbers about traffic from each router. */
export const createTrafficCollectors = ({ database, routers }: Foundation): Each<Reconciler> =>
  routers.each((scoped) => createTrafficCollector({ database, clock, ...scoped }))
