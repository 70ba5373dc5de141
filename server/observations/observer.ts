import type { Database } from '../database/index.ts'
import { type Engine, EngineError, type Observation } from '../engines/index.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'
import { decideRepair, liveEndpoints, type Repair } from './decide.ts'
import { insertObservation, isWished, listWishes, type WishRow } from './observation-store.ts'

export interface ObserverOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly engine: Engine
  /** Starts a release that ran before, again. */
  readonly startRelease: (wish: WishRow, release: string, attempt: Attempt) => Promise<unknown>
  /** Lets traffic of a service go to where its release answers now. */
  readonly moveTraffic: (serviceId: string, release: string, seen: ReturnType<typeof liveEndpoints>) => Promise<void>
  /** Something of this service runs: its lines are to be collected. */
  readonly collect: (wish: WishRow) => void
}

export interface Observer extends Reconciler {
  /**
   * Ends a repair of the service that is under way here, and waits for that. For a request that runs already, so that no further
   * repair begins: a repair decided before the request would end what the request starts.
   */
  endRepair(serviceId: string): Promise<void>
}

const longestPauseMs = 60_000

/**
 * Sees what really runs, writes it down, and brings back what should run but does not: containers removed by hand, engines
 * that were restarted, releases that a crash left behind. Services of a running request are left to that request.
 */
export function createObserver(options: ObserverOptions): Observer {
  const { database, engine, log } = options
  const failures: Failures = new Map()
  const repairs = new Map<string, { readonly ended: Promise<void>; readonly stop: AbortController }>()
  /** In the background, so that one service that does not come back keeps no other from being seen. */
  const begin = (serviceId: string, outer: AbortSignal, work: (signal: AbortSignal) => Promise<void>): void => {
    if (repairs.has(serviceId)) return
    const stop = new AbortController()
    const signal = AbortSignal.any([outer, stop.signal])
    const ended = work(signal)
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error, serviceId }, 'a repair failed and is tried again')
      })
      .finally(() => repairs.delete(serviceId))
    repairs.set(serviceId, { ended, stop })
  }
  return {
    name: 'observations',
    everyMs: 1000,
    reconcile: async (signal) => {
      const before = new Map((await listWishes(database)).map((wish) => [wish.id, wish]))
      const seen = await engine.observeAll(signal)
      const wishes = await listWishes(database)
      const known = new Set(wishes.map((wish) => wish.id))
      for (const service of seen.keys()) {
        if (!known.has(service)) begin(service, signal, (ending) => removeOrphan(options, service, ending))
      }
      for (const wish of wishes) {
        const observation = seen.get(wish.id) ?? { state: 'absent' as const }
        if (observation.state !== 'absent') options.collect(wish)
        if (wish.busy) repairs.get(wish.id)?.stop.abort()
        // What was seen while a request acted, or of another wish, says nothing about what is to be done now.
        if (!isSame(before.get(wish.id), wish) || repairs.has(wish.id)) continue
        const repair = await reconcileOne(options, failures, wish, observation)
        if (repair) begin(wish.id, signal, (ending) => tryRepair(options, failures, wish, repair, ending))
      }
    },
    endRepair: async (serviceId) => {
      const running = repairs.get(serviceId)
      running?.stop.abort()
      await running?.ended
    },
  }
}

type Failures = Map<string, { count: number; againAt: number }>

const isSame = (before: WishRow | undefined, now: WishRow): boolean =>
  before !== undefined && !before.busy && !now.busy && before.release_id === now.release_id

/** Writes down what was seen, and says what has to be repaired now. */
async function reconcileOne(
  { database, clock, moveTraffic }: ObserverOptions,
  failures: Failures,
  wish: WishRow,
  seen: Observation,
): Promise<Repair | undefined> {
  // That nothing runs is no news where nothing should, and says less than why it could not be brought back.
  const isNews = seen.state !== 'absent' || (wish.release_id !== null && !failures.has(wish.id))
  if (isNews) await insertObservation(database, wish, seen, clock.now())
  if (wish.release_id !== null) {
    const endpoints = liveEndpoints(wish.release_id, seen)
    if (endpoints.length > 0) await moveTraffic(wish.id, wish.release_id, endpoints)
  }
  const repair = decideRepair(wish.release_id, seen)
  if (!repair) failures.delete(wish.id)
  return (failures.get(wish.id)?.againAt ?? 0) > clock.monotonic() ? undefined : repair
}

async function tryRepair(
  { engine, clock, log, startRelease, database }: ObserverOptions,
  failures: Failures,
  wish: WishRow,
  repair: Repair,
  signal: AbortSignal,
): Promise<void> {
  // A request may have begun since the wishes were read: it does its own repairs.
  if (!(await isWished(database, wish))) return
  const attempt = { signal, output: silent }
  try {
    signal.throwIfAborted()
    log.warn({ serviceId: wish.id, repair: repair.kind }, 'what runs differs from what should run; repairing it')
    if (repair.kind === 'retire') await engine.retire(wish.id, repair.keep, attempt)
    else await startRelease(wish, repair.release, attempt)
    failures.delete(wish.id)
  } catch (error) {
    if (signal.aborted) throw error
    const count = (failures.get(wish.id)?.count ?? 0) + 1
    failures.set(wish.id, { count, againAt: clock.monotonic() + Math.min(longestPauseMs, 1000 * 2 ** count) })
    if (error instanceof EngineError && wish.release_id && (await isWished(database, wish))) {
      const seen = { state: 'failing', release: wish.release_id, replicas: [], reason: error.message } as const
      await insertObservation(database, wish, seen, clock.now())
    }
    log.warn({ err: error, serviceId: wish.id, tries: count }, 'a service could not be brought back yet')
  }
}

/** What runs for a service that has no record. Its volumes stay: data is only removed by a deletion. */
async function removeOrphan({ engine, log }: ObserverOptions, service: string, signal: AbortSignal): Promise<void> {
  log.warn({ serviceId: service }, 'something runs for a service that does not exist; ending it')
  await engine.retire(service, undefined, { signal, output: silent })
}
