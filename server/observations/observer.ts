import { type Observation, reconcilerName } from '../engines/index.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { findCarriedOver } from './carried-over.ts'
import { CrashReasons } from './crash-reasons.ts'
import {
  decideRepair,
  judge,
  liveEndpoints,
  mostReplicasOf,
  observationOfChart,
  type Repair,
  withStop,
  withTrouble,
} from './decide.ts'
import { findWish, insertObservation, isSame, listWishes, type WishRow } from './observation-store.ts'
import type { ObserverOptions } from './observer-options.ts'
import { Repairs } from './repairs.ts'
import { type Look, type Seen, SettledServices } from './settled.ts'

export interface Observer extends Reconciler {
  /**
   * Ends a repair of the service in this process and waits for its end. A request calls this when
   * it starts, because an earlier repair would end what the request starts.
   */
  endRepair(serviceId: string): Promise<void>
  /** Looks at one service now, and starts a repair if it needs one. */
  look(serviceId: string, signal: AbortSignal): Promise<void>
  /** Forgets what it has stored, because another server has observed since. */
  renew(): void
}

/**
 * Observes what runs on one engine, stores it, and repairs differences: containers removed by hand,
 * restarted engines, releases that a crash left behind. Services of a running request are left to
 * that request.
 */
export function createObserver(options: ObserverOptions): Observer {
  const observer = new ServiceObserver(options)
  return {
    name: reconcilerName('observations', options.name),
    everyMs: 1000,
    reconcile: (signal) => observer.lookAtAll(signal),
    endRepair: (serviceId) => observer.repairs.end(serviceId),
    look: (serviceId, signal) => observer.lookAt(serviceId, signal),
    renew: () => observer.renew(),
  }
}

/** A look at which everything was settled. */
interface Quiet {
  /** The mark of the wishes before it. */
  readonly marked: string
  readonly all: Seen
  readonly routes: string
  /** What should run on the engine. */
  readonly wishes: readonly WishRow[]
}

/** The stored state of a service just before the engine was asked. */
interface Before {
  readonly wish: WishRow
  readonly round: number | undefined
}

class ServiceObserver {
  readonly repairs: Repairs
  readonly #options: ObserverOptions
  readonly #reasons: CrashReasons
  readonly #settled = new SettledServices()
  #last: Seen | undefined
  #quiet: Quiet | undefined

  constructor(options: ObserverOptions) {
    this.#options = options
    this.#reasons = new CrashReasons(options)
    this.repairs = new Repairs(options, (serviceId, signal) => this.#lookAgain(serviceId, signal))
  }

  renew(): void {
    this.#settled.keepOnly(() => false)
    this.#last = undefined
    this.#quiet = undefined
  }

  async lookAtAll(signal: AbortSignal): Promise<void> {
    const { database, engine, name, wishMark, routesMark, routeMarks } = this.#options
    const marked = await wishMark()
    if (await this.#isQuiet(marked, signal)) return
    this.#quiet = undefined
    const asked = this.#last
    const listed = await listWishes(database, name, asked?.keys())
    const before = new Map(listed.map((wish) => [wish.id, this.#beforehand(wish)]))
    const all = await engine.observeAll(signal)
    // If nothing happened since the last look, no time has passed since the wishes were read.
    const wishes = all === asked ? listed : await listWishes(database, name, all.keys())
    this.#last = all
    // A service with a record anywhere is not removed. The services of this engine are attended.
    const known = new Set(wishes.map((wish) => wish.id))
    const own = wishes.filter((wish) => wish.engine === name)
    for (const service of all.keys()) {
      // It has no record before and after this look. A deletion that removes the record in between
      // also removes the containers.
      const isOrphan = asked?.has(service) && !before.has(service) && !known.has(service)
      if (isOrphan) this.repairs.beginRemoval(service, signal)
    }
    const isThere = (id: string): boolean => known.has(id)
    this.#reasons.forget(isThere)
    this.#settled.keepOnly(isThere)
    this.repairs.keepOnly(isThere)
    const mark = await routesMark()
    const look = { signal, routes: await routeMarks(own.map(({ id }) => id)), all }
    const loud = own.filter((wish) => {
      const isStill = this.#settled.isStill(wish, look, this.#options.troubleOf(wish.id))
      return !isStill || !this.#options.isCollected(wish)
    })
    const isNew = loud.filter(({ id }) => !this.#settled.has(id))
    const carried = await findCarriedOver(database, isNew, all, engine.capabilities)
    for (const wish of loud) {
      const seen = all.get(wish.id) ?? { state: 'absent' }
      await this.#attend(before.get(wish.id), wish, seen, { ...look, carried })
    }
    const isQuiet = loud.every((wish) => wish.is_task && !wish.busy)
    const hasStrangers = [...all.keys()].some((id) => !known.has(id))
    // A look that was cut off may be older than what another server has stored since.
    if (isQuiet && !hasStrangers && !signal.aborted) {
      this.#quiet = { marked, all, routes: mark, wishes: own }
    }
  }

  /**
   * Returns whether nothing has happened since a look at which everything was settled. Such a turn
   * of an engine with many services costs next to nothing.
   */
  async #isQuiet(marked: string, signal: AbortSignal): Promise<boolean> {
    const { engine, routesMark, troubleOf, isCollected } = this.#options
    const quiet = this.#quiet
    if (quiet?.marked !== marked || (await engine.observeAll(signal)) !== quiet.all) return false
    if ((await routesMark()) !== quiet.routes) return false
    return quiet.wishes.every((wish) => troubleOf(wish.id) === undefined && (wish.is_task || isCollected(wish)))
  }

  async lookAt(serviceId: string, signal: AbortSignal): Promise<void> {
    const { database, engine } = this.#options
    const wished = await findWish(database, serviceId)
    if (wished?.engine !== this.#options.name) return
    const before = this.#beforehand(wished)
    const seen = await engine.observe(serviceId, signal)
    const wish = await findWish(database, serviceId)
    if (wish) await this.#attend(before, wish, seen, { signal, routes: await this.#options.routeMarks([serviceId]) })
  }

  #lookAgain(serviceId: string, signal: AbortSignal): void {
    this.lookAt(serviceId, signal).catch((error: unknown) => {
      if (!signal.aborted) this.#options.log.debug({ err: error, serviceId }, 'a service is looked at later')
    })
  }

  #beforehand(wish: WishRow): Before {
    return { wish, round: this.repairs.roundOf(wish.id) }
  }

  /** Stores the observation of one service, and starts a repair if it needs one. */
  async #attend(before: Before | undefined, wish: WishRow, seen: Observation, look: Look): Promise<void> {
    if (wish.busy) this.#settled.forget(wish.id)
    if (seen.state !== 'absent') this.#options.collect(wish, [...new Set(seen.replicas.map(({ release }) => release))])
    if (wish.is_task) return
    if (wish.is_chart) return this.#attendChart(before, wish, seen, look)
    const isOld = (): boolean => before?.round !== this.repairs.roundOf(wish.id)
    // An observation made while a request acted, or under another desired state, does not show
    // what to do now.
    if (this.repairs.isUnderWay(wish) || !before || !isSame(before.wish, wish) || isOld()) return
    const trouble = this.#options.troubleOf(wish.id)
    const judged = withStop(withTrouble(await this.#reasons.explain(wish.id, judge(wish, seen)), trouble), wish)
    const found = { wish, judged, look, trouble }
    if (this.#settled.isKnown(found)) return
    const most = mostReplicasOf(wish, this.#options.engine.capabilities)
    const isCarried =
      trouble === undefined && look.carried?.has(wish.id) && decideRepair(wish, judged, most) === undefined
    if (isCarried) {
      this.repairs.due(wish.id, undefined)
      return this.#settled.settle(found)
    }
    const repair = await this.#carryOver(wish, judged)
    if (!repair && judged.state === 'running') this.#settled.settle(found)
    else this.#settled.forget(wish.id)
    if (repair && !isOld()) this.repairs.begin(wish, repair, look.signal)
  }

  /**
   * Stores the observation of a chart and leads its ports to its pods. Kubernetes alone repairs
   * charts.
   */
  async #attendChart(before: Before | undefined, wish: WishRow, seen: Observation, look: Look): Promise<void> {
    if (!before || !isSame(before.wish, wish)) return
    const { database, clock, troubleOf, moveTraffic } = this.#options
    const trouble = troubleOf(wish.id)
    const judged = withTrouble(observationOfChart(wish, seen), trouble)
    const found = { wish, judged, look, trouble }
    if (this.#settled.isKnown(found)) return
    await insertObservation(database, wish, judged, clock.now())
    // Without a ready pod the ports lead nowhere: another pod may have its address by now.
    if (wish.release_id !== null) await moveTraffic(wish.id, wish.release_id, liveEndpoints(wish.release_id, judged))
    this.#settled.settle(found)
  }

  /** Stores the observation, moves traffic, and returns the repair that is due now. */
  async #carryOver(wish: WishRow, seen: Observation): Promise<Repair | undefined> {
    const { database, clock, moveTraffic, isNew, engine } = this.#options
    const most = mostReplicasOf(wish, engine.capabilities)
    let unseen: Repair | undefined
    // An absent service is news only if it should run. If a repair failed, its error says more.
    const isNews = seen.state !== 'absent' || (wish.release_id !== null && !this.repairs.hasFailed(wish.id))
    if (isNews) await insertObservation(database, wish, seen, clock.now())
    if (wish.release_id !== null) {
      const endpoints = liveEndpoints(wish.release_id, seen, most)
      // If a server was killed during the start, nobody waited until these replicas were healthy.
      const isUnseen = seen.state === 'running' && endpoints.length > 0 && (await isNew(wish.id, endpoints))
      if (isUnseen) unseen = { kind: 'start', release: wish.release_id }
      else if (endpoints.length > 0) await moveTraffic(wish.id, wish.release_id, endpoints)
    }
    return this.repairs.due(wish.id, decideRepair(wish, seen, most) ?? unseen)
  }
}
