import { createBuilders, refuseIncomplete } from '../builders/index.ts'
import { createEngines } from '../engines/index.ts'
import { createRoster } from '../lib/roster.ts'
import { createRouters } from '../routers/index.ts'
import type { ClusterDrivers, Drivers } from './ground.ts'

/**
 * The drivers of this machine and of connected clusters, which come and go. `changed` is
 * called after each of them.
 */
export function createFleet(drivers: Drivers, changed: () => void) {
  const named = {
    engines: createRoster(drivers.engines),
    builders: createRoster(drivers.builders),
    routers: createRoster(drivers.routers),
  }
  const engines = createEngines(named.engines)
  const builders = createBuilders(named.builders)
  const routers = createRouters(named.routers)
  refuseIncomplete(engines, builders, routers)
  return {
    engines,
    builders,
    routers,
    /** Adds the drivers of a cluster under the name of its engine. */
    join: (name: string, { engine, builder, router }: ClusterDrivers): void => {
      named.builders.add({ name, builder })
      named.routers.add({ name, router })
      named.engines.add({ name, engine })
      changed()
    },
    /** Removes the drivers that have the name. */
    leave: (name: string): void => {
      named.engines.remove(name)
      named.routers.remove(name)
      named.builders.remove(name)
      changed()
    },
  }
}
