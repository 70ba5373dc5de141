import { isScratch } from '../backups/index.ts'
import { inTransaction } from '../database/index.ts'
import type { DiskKeeper } from '../disk/index.ts'
import {
  leadsElsewhere,
  leadsTo,
  lostPortsText,
  readRouteVersion,
  setEndpoints,
  touchRoutes,
} from '../domains/index.ts'
import { type NamedEngine, reconcilerName } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import type { Secret } from '../lib/secret.ts'
import { serviceLine, serviceStream } from '../logs/index.ts'
import { createObserver, isWished, type Observer, type WishRow } from '../observations/index.ts'
import { engineRelease, findRelease } from '../releases/index.ts'
import { haveImage, type Recipe, type RecipeOptions, recipeFor } from '../rollout/index.ts'
import { endWaking, findLeaving, setLeaving } from '../scaling/index.ts'
import { lockService } from '../services/index.ts'
import type { Reconciler } from '../workflows/index.ts'

import type { Foundation } from './foundation.ts'

/** A table that comes late is handed over by the reconciler of routes. */
const routerMs = 5_000
/** Of a service that fails; more are in its log. */
const mostLines = 10

/** The observers of all engines, and one that acts on a service by whichever of them watches it. */
export function createServiceObservers(
  foundation: Foundation,
  recipe: RecipeOptions,
  disk: Pick<DiskKeeper, 'troubleOf'>,
  nudgeRoutes: () => void,
): { readonly reconcilers: readonly Reconciler[]; readonly observer: ServiceObserver } {
  const all = foundation.engines.all.map((engine) =>
    createServiceObserver(foundation, engine, recipeFor(recipe, { engine: engine.name }), disk, nudgeRoutes),
  )
  const observer: ServiceObserver = {
    endRepair: async (service) => void (await Promise.all(all.map((one) => one.endRepair(service)))),
    look: async (service, signal) => void (await Promise.all(all.map((one) => one.look(service, signal)))),
  }
  return { reconcilers: all, observer }
}

/** What others have an observer do for one service. */
export type ServiceObserver = Pick<Observer, 'endRepair' | 'look'>

/**
 * Sees what runs on one engine and brings it back. `nudgeRoutes` has the router told at once, `disk`
 * knows volumes that are too full.
 */
function createServiceObserver(
  foundation: Foundation,
  { name, engine }: NamedEngine,
  recipe: Recipe,
  disk: Pick<DiskKeeper, 'troubleOf'>,
  nudgeRoutes: () => void,
): Observer {
  const { database, log, routes, lines, collector, collect } = foundation
  const endLeaving = async (service: string, names: readonly string[], attempt: Attempt): Promise<void> => {
    await engine.endReplicas(service, names, attempt)
    await setLeaving(database, service, [])
  }
  return createObserver({
    database,
    clock,
    log,
    name,
    engine,
    restartRelease: async (wish, id, attempt) => {
      const row = await findRelease(database, id)
      if (!row) return undefined
      const { release, secrets } = await engineRelease(recipe, wish.organization_id, row)
      collect(wish.id, id, secrets)
      await haveImage(recipe, wish.organization_id, row, attempt)
      // A server that was killed told them to end: they would be found healthy, and be gone a moment later.
      const leaving = await findLeaving(database, wish.id)
      if (leaving.length > 0) await endLeaving(wish.id, leaving, attempt)
      return engine.start(release, attempt)
    },
    moveTraffic: async (service, release, endpoints) => {
      if (await leadsTo(database, service, release, endpoints)) return
      // Under the lock under which a deployment moves it: what was seen before must not overrule that.
      const moved = await inTransaction(database, async (sql) => {
        await lockService(sql, service)
        if (!(await isWished(sql, { id: service, release_id: release }))) return false
        const isWoken = await endWaking(sql, service)
        return (await setEndpoints(sql, service, release, endpoints, clock.now())) && (isWoken ? 'woken' : 'moved')
      })
      // Requests wait for what was woken: not even for as long as a reconciler takes to begin.
      if (moved === 'woken') await recipe.routes.apply(AbortSignal.timeout(routerMs))
      else if (moved) nudgeRoutes()
    },
    isScratch: (service) => isScratch(database, service),
    isNew: (service, endpoints) => leadsElsewhere(database, service, endpoints),
    leave: async (wish, { staying, leaving }, signal) => {
      const isPresent = await inTransaction(database, async (sql) => {
        await lockService(sql, wish.id)
        if (!(await isWished(sql, wish))) return false
        await setEndpoints(sql, wish.id, wish.release_id, staying, clock.now())
        return true
      })
      if (!isPresent) return false
      await recipe.routes.apply(signal)
      const addresses = leaving.flatMap(({ endpoints }) => endpoints.map(({ address, port }) => ({ address, port })))
      if (addresses.length > 0) await recipe.router.drained(addresses, recipe.drainMs, signal)
      return inTransaction(database, async (sql) => {
        await lockService(sql, wish.id)
        if (!(await isWished(sql, wish))) return false
        const names = leaving.map(({ name }) => name)
        await setLeaving(sql, wish.id, names)
        return true
      })
    },
    endLeaving: (wish, names, attempt) => endLeaving(wish.id, names, attempt),
    lastLines: async (service) =>
      (await lines.tail(serviceStream(service), mostLines)).flatMap((line) => serviceLine(line).text || []),
    troubleOf: (service) => lostPortsText(routes.lostPorts(service)) ?? disk.troubleOf(service),
    routesVersion: () => readRouteVersion(database),
    failed: async (service) => {
      if (!(await endWaking(database, service))) return
      await touchRoutes(database)
      nudgeRoutes()
    },
    collect: (wish, releases) => {
      if (collector.following().includes(wish.id) || wish.release_id === null) return
      void collectAll(wish, new Set([...releases, wish.release_id])).catch((error: unknown) =>
        log.warn({ err: error, serviceId: wish.id }, 'lines are not collected yet'),
      )
    },
  })
  /** All secrets are known before the first line comes: while one version follows another, both print. */
  async function collectAll({ id, organization_id }: WishRow, releases: ReadonlySet<string>): Promise<void> {
    const all = [...releases].map(async (release) => ({ release, secrets: await secretsOf(release, organization_id) }))
    for (const { release, secrets } of await Promise.all(all)) collect(id, release, secrets)
  }
  async function secretsOf(release: string, organizationId: string): Promise<readonly Secret[]> {
    const row = await findRelease(database, release)
    return row ? (await engineRelease(recipe, organizationId, row)).secrets : []
  }
}

/** Restarts replicas that fail their liveness probe, and runs the post-start command of restarted ones. */
export const createLiveness = ({ log }: Foundation, { name, engine }: NamedEngine): Reconciler => ({
  name: reconcilerName('liveness', name),
  everyMs: 1000,
  reconcile: async (signal) => {
    for (const container of await engine.checkLiveness(signal)) {
      log.warn({ container }, 'liveness probe failed too often; the container was restarted')
    }
    for (const reason of await engine.followRestarts(signal)) {
      log.warn({ reason }, 'the post-start command of a restarted container failed')
    }
  },
})
