import { systemClock as clock } from '../lib/clock.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import type { Each } from '../lib/roster.ts'
import { createAccessLines, createTrafficCollector } from '../traffic/index.ts'
import type { Foundation } from './foundation.ts'

/** Takes the numbers about traffic, and lines of requests, from each router. */
export const createTrafficCollectors = ({ database, routers, lines }: Foundation): Each<readonly Reconciler[]> =>
  routers.each(({ name, router, scope }) => [
    createTrafficCollector({ database, clock, name, router, scope }),
    createAccessLines({ name, router, lines }),
  ])
