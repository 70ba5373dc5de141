import type { Database } from '../database/index.ts'
import type { Router } from '../routers/index.ts'
import type { Reconciler } from '../workflows/index.ts'
import { readTable, readVersion } from './route-store.ts'

export interface RoutePublisher {
  /** Hands the whole table to the router, now; returns once requests go by it, with the ports of it that other programs have. */
  apply(signal: AbortSignal): Promise<readonly number[]>
  /** Does the same whenever the table has changed since, and now and then anyway: a router may have been replaced. */
  readonly reconciler: Reconciler
}

const refreshEvery = 5

/** Brings the table of routes from the database to the router. One hand-over at a time; the last one always wins. */
export function createRoutePublisher({
  database,
  router,
}: {
  database: Database
  router: Pick<Router, 'replaceAll'>
}): RoutePublisher {
  let applied = -1
  let quiet = 0
  let turn: Promise<unknown> = Promise.resolve()

  const apply = (signal: AbortSignal): Promise<readonly number[]> => {
    const next = turn.then(async () => {
      const { version, routes } = await readTable(database)
      const taken = await router.replaceAll(routes, signal)
      applied = version
      return taken
    })
    turn = next.catch(() => {})
    return next
  }

  return {
    apply,
    reconciler: {
      name: 'routes',
      everyMs: 1000,
      reconcile: async (signal) => {
        quiet = (quiet + 1) % refreshEvery
        if (quiet !== 0 && (await readVersion(database)) === applied) return
        await apply(signal)
      },
    },
  }
}
