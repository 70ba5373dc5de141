import type { Database } from '../database/index.ts'
import { type Endpoint, type Engine, EngineError, type Observation, type Replica } from '../engines/index.ts'
import { type Attempt, silent } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../workflows/index.ts'
import { CrashReasons } from './crash-reasons.ts'
import { decideRepair, judge, liveEndpoints, type Repair, withTrouble } from './decide.ts'
import { insertObservation, isWished, listWishes, type WishRow } from './observation-store.ts'

export interface ObserverOptions {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly engine: Engine
  /** Starts a release that ran before, again, in the number that is wanted. Gives where it answers. */
  readonly startRelease: (wish: WishRow, release: string, attempt: Attempt) => Promise<readonly Endpoint[] | undefined>
  /** Lets traffic of a service go to where its release answers now. */
  readonly moveTraffic: (serviceId: string, release: string, seen: readonly Endpoint[]) => Promise<void>
  /** Whether traffic does not go to one of these yet: then it has to be seen healthy before. */
  readonly isNew: (serviceId: string, endpoints: readonly Endpoint[]) => Promise<boolean>
  /** Whether what runs for a service without a record is a backup that is being proven: it is left alone. */
  readonly isScratch: (serviceId: string) => Promise<boolean>
  /** Traffic leaves replicas: waits until nothing is open on them. False when this wish is no longer the present one. */
  readonly leave: (
    wish: WishRow,
    replicas: { readonly staying: readonly Endpoint[]; readonly leaving: readonly Replica[] },
    signal: AbortSignal,
  ) => Promise<boolean>
  /** Ends the replicas that traffic has left. */
  readonly endLeaving: (wish: WishRow, names: readonly string[], attempt: Attempt) => Promise<void>
  /** A service could not be brought up. */
  readonly failed: (serviceId: string) => Promise<void>
  /** Grows with every change of the routes: what traffic follows has to be looked at anew. */
  readonly routesVersion: () => Promise<number>
  /** What keeps a service from being reached although it runs, in words for people. */
  readonly troubleOf: (serviceId: string) => string | undefined
  /** What a service printed last, without secrets; for people who ask why it fails. */
  readonly lastLines: (serviceId: string) => Promise<readonly string[]>
  /** These releases of the service run: their lines are to be collected. */
  readonly collect: (wish: WishRow, releases: readonly string[]) => void
}

export interface Observer extends Reconciler {
  /**
   * Ends a repair of the service that is under way here, and waits for that. For a request that runs already, so that no further
   * repair begins: a repair decided before the request would end what the request starts.
   */
  endRepair(serviceId: string): Promise<void>
  /** Looks at one service now, and begins what has to be done: something was written down that concerns it. */
  look(serviceId: string, signal: AbortSignal): Promise<void>
}

const longestPauseMs = 60_000

/**
 * Sees what really runs, writes it down, and brings back what should run but does not: containers removed by hand, engines
 * that were restarted, releases that a crash left behind. Services of a running request are left to that request.
 */
export function createObserver(options: ObserverOptions): Observer {
  const { database, engine, log } = options
  const failures: Failures = new Map()
  const reasons = new CrashReasons(options)
  const repairs = new Map<string, UnderWay>()
  /** How often something was begun or ended for a service: what was seen before that is old. */
  const rounds = new Map<string, number>()
  /** What was carried over to rows already: while it is the same there is nothing to write. */
  const settled = new Map<string, Settled>()
  const turn = (serviceId: string): void => void rounds.set(serviceId, (rounds.get(serviceId) ?? 0) + 1)
  /** In the background, so that one service that does not come back keeps no other from being seen. */
  const begin = (serviceId: string, replicas: number, outer: AbortSignal, work: Work): void => {
    if (repairs.has(serviceId)) return
    const stop = new AbortController()
    const signal = AbortSignal.any([outer, stop.signal])
    turn(serviceId)
    const ended = work(signal, outer)
      .catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error, serviceId }, 'a repair failed and is tried again')
      })
      .finally(() => {
        repairs.delete(serviceId)
        turn(serviceId)
        if (stop.signal.aborted && !outer.aborted) again(serviceId, outer)
      })
    repairs.set(serviceId, { ended, stop, replicas })
  }
  const attend = async (before: Before | undefined, wish: WishRow, seen: Observation, look: Look) => {
    const { signal, routes } = look
    if (wish.busy) settled.delete(wish.id)
    if (seen.state !== 'absent') options.collect(wish, [...new Set(seen.replicas.map(({ release }) => release))])
    if (wish.is_task) return
    const running = repairs.get(wish.id)
    if (running && (wish.busy || running.replicas !== wish.replicas)) running.stop.abort()
    // What was seen while a request acted, or of another wish, says nothing about what is to be done now.
    if (running || !before || !isSame(before.wish, wish) || before.round !== rounds.get(wish.id)) return
    const trouble = options.troubleOf(wish.id)
    const judged = withTrouble(await reasons.explain(wish.id, judge(wish, seen)), trouble)
    const words = JSON.stringify([wish.release_id, wish.replicas, routes, judged])
    const known = settled.get(wish.id)?.words === words
    if (known) return void settled.set(wish.id, { words, wish, look, trouble })
    const repair = await reconcileOne(options, failures, wish, judged)
    if (!repair && judged.state === 'running') settled.set(wish.id, { words, wish, look, trouble })
    else settled.delete(wish.id)
    if (!repair || before.round !== rounds.get(wish.id)) return
    begin(wish.id, wish.replicas, signal, (ending, whole) =>
      tryRepair(options, failures, { wish, repair, whole }, ending),
    )
  }
  const beforehand = (wish: WishRow): Before => ({ wish, round: rounds.get(wish.id) })
  const look = async (serviceId: string, signal: AbortSignal): Promise<void> => {
    const [wished] = await listWishes(database, serviceId)
    if (!wished) return
    const before = beforehand(wished)
    const seen = await engine.observe(serviceId, signal)
    const [wish] = await listWishes(database, serviceId)
    if (wish) await attend(before, wish, seen, { signal, routes: await options.routesVersion() })
  }
  const again = (serviceId: string, signal: AbortSignal): void => {
    look(serviceId, signal).catch((error: unknown) => {
      if (!signal.aborted) log.debug({ err: error, serviceId }, 'a service is looked at later')
    })
  }
  /** By this very look it was settled already, and nothing else is wished of it since. */
  const isSettled = (wish: WishRow, { all, routes }: Look): boolean => {
    const known = settled.get(wish.id)
    if (known?.look.all !== all || known?.look.routes !== routes) return false
    if (known.trouble !== options.troubleOf(wish.id)) return false
    return isSame(known.wish, wish) && known.wish.replicas === wish.replicas
  }
  let last: Seen | undefined
  return {
    name: 'observations',
    everyMs: 1000,
    reconcile: async (signal) => {
      const listed = await listWishes(database)
      const before = new Map(listed.map((wish) => [wish.id, beforehand(wish)]))
      const seen = await engine.observeAll(signal)
      // Where nothing happened since the last look, no time has passed since the wishes were read.
      const wishes = seen === last ? listed : await listWishes(database)
      last = seen
      const known = new Set(wishes.map((wish) => wish.id))
      for (const service of seen.keys()) {
        if (!known.has(service)) begin(service, 0, signal, (ending) => removeOrphan(options, service, ending))
      }
      reasons.forget((id) => known.has(id))
      for (const id of settled.keys()) if (!known.has(id)) settled.delete(id)
      const routes = await options.routesVersion()
      const look = { signal, routes, all: seen }
      for (const wish of wishes) {
        if (isSettled(wish, look)) continue
        await attend(before.get(wish.id), wish, seen.get(wish.id) ?? { state: 'absent' }, look)
      }
    },
    endRepair: async (serviceId) => {
      const running = repairs.get(serviceId)
      running?.stop.abort()
      await running?.ended
    },
    look,
  }
}

/** `ending` is aborted when something else is wanted, too; `whole` only with this process. */
type Work = (ending: AbortSignal, whole: AbortSignal) => Promise<void>

interface Job {
  readonly wish: WishRow
  readonly repair: Repair
  readonly whole: AbortSignal
}

interface UnderWay {
  readonly ended: Promise<void>
  readonly stop: AbortController
  /** What the repair makes it be. */
  readonly replicas: number
}

type Seen = Awaited<ReturnType<Engine['observeAll']>>

interface Look {
  readonly signal: AbortSignal
  /** The version of the routes at that time. */
  readonly routes: number
  /** What was seen of everything, where everything was looked at. */
  readonly all?: Seen
}

interface Settled {
  /** What was seen and wished, in words. */
  readonly words: string
  readonly wish: WishRow
  /** The last one by which it was so. */
  readonly look: Look
  readonly trouble: string | undefined
}

/** What was known of a service just before the engine was asked. */
interface Before {
  readonly wish: WishRow
  readonly round: number | undefined
}

type Failures = Map<string, { count: number; againAt: number }>

const isSame = (before: WishRow, now: WishRow): boolean =>
  !before.busy && !now.busy && before.release_id === now.release_id && before.replicas === now.replicas

/** Writes down what was seen, and says what has to be repaired now. */
async function reconcileOne(
  { database, clock, moveTraffic, isNew }: ObserverOptions,
  failures: Failures,
  wish: WishRow,
  seen: Observation,
): Promise<Repair | undefined> {
  // That nothing runs is no news where nothing should, and says less than why it could not be brought back.
  let unseen: Repair | undefined
  const isNews = seen.state !== 'absent' || (wish.release_id !== null && !failures.has(wish.id))
  if (isNews) await insertObservation(database, wish, seen, clock.now())
  if (wish.release_id !== null) {
    const endpoints = liveEndpoints(wish.release_id, seen, wish.replicas)
    // What has come up while nobody waited for it, because a server was killed, may not be healthy yet.
    const isUnseen = seen.state === 'running' && endpoints.length > 0 && (await isNew(wish.id, endpoints))
    if (isUnseen) unseen = { kind: 'start', release: wish.release_id }
    else if (endpoints.length > 0) await moveTraffic(wish.id, wish.release_id, endpoints)
  }
  const repair = decideRepair(wish, seen) ?? unseen
  if (!repair) failures.delete(wish.id)
  return (failures.get(wish.id)?.againAt ?? 0) > clock.monotonic() ? undefined : repair
}

async function tryRepair(options: ObserverOptions, failures: Failures, job: Job, signal: AbortSignal): Promise<void> {
  const { clock, log, database } = options
  const { wish } = job
  // A request may have begun since the wishes were read: it does its own repairs.
  if (!(await isWished(database, wish))) return
  try {
    signal.throwIfAborted()
    await carryOut(options, job, signal)
    failures.delete(wish.id)
  } catch (error) {
    if (signal.aborted) throw error
    const count = (failures.get(wish.id)?.count ?? 0) + 1
    failures.set(wish.id, { count, againAt: clock.monotonic() + Math.min(longestPauseMs, 1000 * 2 ** count) })
    if (error instanceof EngineError && wish.release_id && (await isWished(database, wish))) {
      const seen = { state: 'failing', release: wish.release_id, replicas: [], reason: reasonOf(error) } as const
      await insertObservation(database, wish, seen, clock.now())
      await options.failed(wish.id)
    }
    log.warn({ err: error, serviceId: wish.id, tries: count }, 'a service could not be brought back yet')
  }
}

const reasonOf = ({ message, lastLines }: EngineError): string => [message, ...lastLines].join('\n')

async function carryOut(
  { engine, log, startRelease, moveTraffic, leave, endLeaving }: ObserverOptions,
  { wish, repair, whole }: Job,
  signal: AbortSignal,
): Promise<void> {
  const attempt = { signal, output: silent }
  const level = repair.kind === 'shrink' ? 'info' : 'warn'
  log[level]({ serviceId: wish.id, repair: repair.kind }, 'what runs differs from what should run; repairing it')
  if (repair.kind === 'retire') return engine.retire(wish.id, repair.keep, attempt)
  if (repair.kind === 'start') {
    const endpoints = (await startRelease(wish, repair.release, attempt)) ?? []
    if (endpoints.length > 0) await moveTraffic(wish.id, repair.release, endpoints)
    return
  }
  const { staying, leaving } = repair
  if (!(await leave(wish, { staying, leaving }, signal))) return
  // What was told to end ends: adopted half-way by a start, it would be taken for running.
  const names = leaving.map(({ name }) => name)
  await endLeaving(wish, names, { signal: whole, output: silent })
}

/** What runs for a service that has no record. Its volumes stay: data is only removed by a deletion. */
async function removeOrphan(
  { engine, log, isScratch }: ObserverOptions,
  service: string,
  signal: AbortSignal,
): Promise<void> {
  if (await isScratch(service)) return
  log.warn({ serviceId: service }, 'something runs for a service that does not exist; ending it')
  await engine.retire(service, undefined, { signal, output: silent })
}
