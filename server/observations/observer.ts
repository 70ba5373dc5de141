import { type Database, inTransaction } from '../database/index.ts'
import { type Engine, EngineError, type Observation } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { silent } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'
import { decideRepair, liveEndpoints, type Repair } from './decide.ts'
import { insertObservation, listWishes, type WishRow } from './observation-store.ts'

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

const longestPauseMs = 60_000

/**
 * Sees what really runs, writes it down, and brings back what should run but does not: containers removed by hand, engines
 * that were restarted, releases that a crash left behind. Services of a running request are left to that request.
 */
export function createObserver(options: ObserverOptions): Reconciler {
  const failures: Failures = new Map()
  const repairs = new Map<string, Promise<void>>()
  /** In the background, so that one service that does not come back keeps no other from being seen. */
  const repair = (wish: WishRow, what: Repair, signal: AbortSignal): void => {
    const done = tryRepair(options, failures, wish, what, signal)
      .catch((error: unknown) =>
        options.log.warn({ err: error, serviceId: wish.id }, 'a repair failed and is tried again'),
      )
      .finally(() => repairs.delete(wish.id))
    repairs.set(wish.id, done)
  }
  return {
    name: 'observations',
    everyMs: 1000,
    reconcile: async (signal) => {
      const seen = await options.engine.observeAll(signal)
      const wishes = await listWishes(options.database)
      const known = new Set(wishes.map((wish) => wish.id))
      for (const service of seen.keys()) if (!known.has(service)) await removeOrphan(options, service, signal)
      for (const wish of wishes) {
        const observation = seen.get(wish.id) ?? { state: 'absent' as const }
        const what = repairs.has(wish.id) ? undefined : await reconcileOne(options, failures, wish, observation)
        if (what) repair(wish, what, signal)
      }
    },
  }
}

type Failures = Map<string, { count: number; againAt: number }>

/** Writes down what was seen, and says what has to be repaired now. */
async function reconcileOne(
  options: ObserverOptions,
  failures: Failures,
  wish: WishRow & { busy: boolean },
  seen: Observation,
): Promise<Repair | undefined> {
  if (seen.state !== 'absent') options.collect(wish)
  if (wish.busy) return undefined
  const { database, clock } = options
  if (wish.release_id !== null || seen.state !== 'absent') {
    await inTransaction(database, (sql) => insertObservation(sql, wish.id, seen, clock.now()))
  }
  if (wish.release_id !== null) {
    const endpoints = liveEndpoints(wish.release_id, seen)
    if (endpoints.length > 0) await options.moveTraffic(wish.id, wish.release_id, endpoints)
  }
  const repair = decideRepair(wish.release_id, seen)
  if (!repair) {
    failures.delete(wish.id)
    return undefined
  }
  const failed = failures.get(wish.id)
  if (failed && failed.againAt > clock.monotonic()) return undefined
  // A request may have begun since the wishes were read: it does its own repairs.
  const [fresh] = await listWishes(database, wish.id)
  return fresh && !fresh.busy && fresh.release_id === wish.release_id ? repair : undefined
}

async function tryRepair(
  { engine, clock, log, startRelease, database }: ObserverOptions,
  failures: Failures,
  wish: WishRow,
  repair: Repair,
  signal: AbortSignal,
): Promise<void> {
  const attempt = { signal, output: silent }
  try {
    log.warn({ serviceId: wish.id, repair: repair.kind }, 'what runs differs from what should run; repairing it')
    if (repair.kind === 'retire') await engine.retire(wish.id, repair.keep, attempt)
    else await startRelease(wish, repair.release, attempt)
    failures.delete(wish.id)
  } catch (error) {
    if (!(error instanceof EngineError) || signal.aborted) throw error
    const count = (failures.get(wish.id)?.count ?? 0) + 1
    failures.set(wish.id, { count, againAt: clock.monotonic() + Math.min(longestPauseMs, 1000 * 2 ** count) })
    const seen = { state: 'failing', release: wish.release_id ?? '', replicas: [], reason: error.message } as const
    if (wish.release_id) await inTransaction(database, (sql) => insertObservation(sql, wish.id, seen, clock.now()))
    log.warn({ err: error, serviceId: wish.id, tries: count }, 'a service could not be brought back yet')
  }
}

/** What runs for a service that has no record. Its volumes stay: data is only removed by a deletion. */
async function removeOrphan({ engine, log }: ObserverOptions, service: string, signal: AbortSignal): Promise<void> {
  log.warn({ serviceId: service }, 'something runs for a service that does not exist; ending it')
  await engine.retire(service, undefined, { signal, output: silent })
}
