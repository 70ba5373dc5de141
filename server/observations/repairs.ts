import { EngineError } from '../engines/index.ts'
import type { Repair } from './decide.ts'
import { insertObservation, isWished, type WishRow } from './observation-store.ts'
import type { ObserverOptions } from './observer-options.ts'
import { carryOut, type Job, removeOrphan } from './repair-work.ts'

interface UnderWay {
  readonly ended: Promise<void>
  readonly stop: AbortController
  /** The number of replicas that the repair leads to. */
  readonly replicas: number
}

interface Failure {
  readonly count: number
  /** Monotonic milliseconds. */
  readonly againAt: number
}

/** `ending` is aborted also when the desired state changes; `whole` only with this process. */
type Work = (ending: AbortSignal, whole: AbortSignal) => Promise<void>

const longestPauseMs = 60_000

/**
 * Runs repairs in the background, at most one for each service, so that a service that does not
 * recover delays no other. Failed repairs are retried with growing delays.
 */
export class Repairs {
  readonly #options: ObserverOptions
  readonly #whenStopped: (serviceId: string, signal: AbortSignal) => void
  readonly #underWay = new Map<string, UnderWay>()
  /** Counts the beginnings and ends of repairs. An observation of an earlier round is outdated. */
  readonly #rounds = new Map<string, number>()
  readonly #failures = new Map<string, Failure>()

  /** `whenStopped` is called when a repair was ended in favour of something else. */
  constructor(options: ObserverOptions, whenStopped: (serviceId: string, signal: AbortSignal) => void) {
    this.#options = options
    this.#whenStopped = whenStopped
  }

  /** Returns a number that changes whenever a repair of the service begins or ends. */
  roundOf(serviceId: string): number | undefined {
    return this.#rounds.get(serviceId)
  }

  /** Returns whether a repair runs. Ends it if it leads to another number than desired now. */
  isUnderWay(wish: WishRow): boolean {
    const running = this.#underWay.get(wish.id)
    if (running && (wish.busy || running.replicas !== wish.replicas)) running.stop.abort()
    return running !== undefined
  }

  /** Returns whether the last repair failed and none has succeeded since. */
  hasFailed(serviceId: string): boolean {
    return this.#failures.has(serviceId)
  }

  /** Returns the repair that is due. Undefined during the delay after a failure. */
  due(serviceId: string, repair: Repair | undefined): Repair | undefined {
    if (!repair) this.#failures.delete(serviceId)
    const { againAt = 0 } = this.#failures.get(serviceId) ?? {}
    return againAt > this.#options.clock.monotonic() ? undefined : repair
  }

  begin(wish: WishRow, repair: Repair, signal: AbortSignal): void {
    this.#begin({ id: wish.id, replicas: wish.replicas }, signal, (ending, whole) =>
      this.#try({ wish, repair, whole }, ending),
    )
  }

  /** Begins the removal of containers without a record. */
  beginRemoval(serviceId: string, signal: AbortSignal): void {
    this.#begin({ id: serviceId, replicas: 0 }, signal, (ending) => removeOrphan(this.#options, serviceId, ending))
  }

  /** Ends the repair of the service, and waits for its end. */
  async end(serviceId: string): Promise<void> {
    const running = this.#underWay.get(serviceId)
    running?.stop.abort()
    await running?.ended
  }

  /** Forgets services that the observer no longer lists, unless a repair of them runs. */
  keepOnly(isThere: (serviceId: string) => boolean): void {
    for (const map of [this.#rounds, this.#failures]) {
      for (const id of map.keys()) if (!isThere(id) && !this.#underWay.has(id)) map.delete(id)
    }
  }

  #turn(id: string): void {
    this.#rounds.set(id, (this.#rounds.get(id) ?? 0) + 1)
  }

  #begin({ id, replicas }: Pick<WishRow, 'id' | 'replicas'>, outer: AbortSignal, work: Work): void {
    if (this.#underWay.has(id)) return
    const stop = new AbortController()
    const signal = AbortSignal.any([outer, stop.signal])
    this.#turn(id)
    const ended = work(signal, outer)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn({ err: error, serviceId: id }, 'a repair failed and is tried again')
      })
      .finally(() => {
        this.#underWay.delete(id)
        this.#turn(id)
        if (stop.signal.aborted && !outer.aborted) this.#whenStopped(id, outer)
      })
    this.#underWay.set(id, { ended, stop, replicas })
  }

  async #try(job: Job, signal: AbortSignal): Promise<void> {
    const { wish } = job
    // A request may have begun since the desired state was read. It makes its own repairs.
    if (!(await isWished(this.#options.database, wish))) return
    try {
      signal.throwIfAborted()
      await carryOut(this.#options, job, signal)
      this.#failures.delete(wish.id)
    } catch (error) {
      if (signal.aborted) throw error
      await this.#fail(wish, error)
    }
  }

  async #fail(wish: WishRow, error: unknown): Promise<void> {
    const { clock, log, database, failed } = this.#options
    const count = (this.#failures.get(wish.id)?.count ?? 0) + 1
    const pauseMs = Math.min(longestPauseMs, 1000 * 2 ** count)
    this.#failures.set(wish.id, { count, againAt: clock.monotonic() + pauseMs })
    if (error instanceof EngineError && wish.release_id && (await isWished(database, wish))) {
      const seen = { state: 'failing', release: wish.release_id, replicas: [], reason: reasonOf(error) } as const
      await insertObservation(database, wish, seen, clock.now())
      await failed(wish.id)
    }
    log.warn({ err: error, serviceId: wish.id, tries: count }, 'a service could not be restarted; trying again')
  }
}

const reasonOf = ({ message, lastLines }: EngineError): string => [message, ...lastLines].join('\n')
