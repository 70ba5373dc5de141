import type { Observation } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'

interface Known {
  /** What the engine said when it last knew how a replica had ended. */
  readonly reason: string | undefined
  readonly lines: readonly string[]
}

export interface CrashReasonsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** What a service printed last, without secrets. */
  readonly lastLines: (serviceId: string) => Promise<readonly string[]>
}

/** A service that fails again and again is told of so often at most. */
const tellEveryMs = 60_000

/**
 * Why services fail that ran before, in words that stay while they do: an engine knows how a
 * replica ended only until it is started again, and that is most of the time.
 */
export class CrashReasons {
  readonly #options: CrashReasonsOptions
  readonly #known = new Map<string, Known>()
  readonly #toldMs = new Map<string, number>()

  constructor(options: CrashReasonsOptions) {
    this.#options = options
  }

  /** The observation, with the reason and the last lines of a failing service. */
  async explain(serviceId: string, seen: Observation): Promise<Observation> {
    if (seen.state !== 'failing') {
      if (seen.state === 'running') this.#known.delete(serviceId)
      return seen
    }
    const before = this.#known.get(serviceId)
    const isFresh = seen.replicas.some(({ exitCode, outOfMemory }) => exitCode !== undefined || outOfMemory)
    if (!before || (isFresh && before.reason !== seen.reason)) {
      const lines = await this.#options.lastLines(serviceId)
      this.#known.set(serviceId, { reason: seen.reason, lines })
    }
    const known = this.#known.get(serviceId)
    this.#tell(serviceId, known?.reason)
    const reason = [known?.reason ?? seen.reason ?? 'it fails', ...(known?.lines ?? [])].join('\n')
    return { ...seen, reason }
  }

  forget(isKnown: (serviceId: string) => boolean): void {
    for (const map of [this.#known, this.#toldMs]) {
      for (const id of map.keys()) if (!isKnown(id)) map.delete(id)
    }
  }

  #tell(serviceId: string, reason: string | undefined): void {
    const { clock, log } = this.#options
    const nowMs = clock.monotonic()
    if (nowMs - (this.#toldMs.get(serviceId) ?? Number.NEGATIVE_INFINITY) < tellEveryMs) return
    this.#toldMs.set(serviceId, nowMs)
    log.warn({ serviceId, reason }, 'a service fails again and again')
  }
}
