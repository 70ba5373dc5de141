import { isScratch } from '../backups/index.ts'
import type { Disks } from '../disk/index.ts'
import { readServiceMarks, routeTrouble } from '../domains/index.ts'
import type { NamedEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import {
  createLineFollower,
  createObserver,
  createRestarter,
  createTrafficMover,
  joinObservers,
  type Observer,
} from '../observations/index.ts'
import { createReleaseOpener, type Recipe, type RecipeOptions, recipeFor } from '../rollout/index.ts'
import type { Foundation } from './foundation.ts'

type Troubles = Pick<Disks, 'keeperOf'>

/** The observers of all current engines, and one that finds the observer of a service. */
export function createServiceObservers(
  foundation: Foundation,
  options: RecipeOptions,
  disk: Troubles,
  nudgeRoutes: () => void,
) {
  const observers = foundation.engines.each((engine) =>
    createServiceObserver(foundation, engine, recipeFor(options, { engine: engine.name }), disk, nudgeRoutes),
  )
  return { observers, observer: joinObservers(observers) }
}

/** Observes the services on one engine and repairs them. */
function createServiceObserver(
  { database, log, lines, lineCollector: collector, routeMarks, wishMarks }: Foundation,
  { name, engine }: NamedEngine,
  recipe: Recipe,
  disk: Troubles,
  nudgeRoutes: () => void,
): Observer {
  const releases = createReleaseOpener(recipe)
  const keeper = disk.keeperOf(name)
  const carrier = {
    apply: recipe.routes.apply,
    nudge: nudgeRoutes,
    drained: (addresses: Parameters<Recipe['router']['drained']>[0], signal: AbortSignal) =>
      recipe.router.drained(addresses, recipe.drainMs, signal),
  }
  return createObserver({
    database,
    clock,
    log,
    name,
    engine,
    ...createTrafficMover({ database, clock, carrier }),
    routesMark: () => routeMarks.ofEndpoints(name),
    routeMarks: (services) => readServiceMarks(database, services),
    wishMark: () => wishMarks.of(name),
    ...createRestarter({ database, engine, releases, collector }),
    ...createLineFollower({ log, lines, releases, collector }),
    isScratch: (service) => isScratch(database, service),
    troubleOf: (service) => routeTrouble(recipe.routes, service) ?? keeper?.troubleOf(service),
  })
}
