import type { Observation } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'

interface Known {
  /** The last reason that the engine reported for the end of a replica. */
  readonly reason: string | undefined
  readonly lines: readonly string[]
}

export interface CrashReasonsOptions {
  readonly clock: Clock
  readonly log: Logger
  /** Returns the last lines of a service, without secrets. */
  readonly lastLines: (serviceId: string) => Promise<readonly string[]>
}

/** The shortest time between two warnings about the same failing service. */
const tellEveryMs = 60_000

/**
 * Remembers why services fail. An engine knows how a replica ended only until it restarts it, so
 * most of the time the reason has to come from here.
 */
export class CrashReasons {
  readonly #options: CrashReasonsOptions
  readonly #known = new Map<string, Known>()
  readonly #toldMs = new Map<string, number>()

  constructor(options: CrashReasonsOptions) {
    this.#options = options
  }

  /** Returns the observation, with the reason and the last lines if the service fails. */
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
    log.warn({ serviceId, reason }, 'a service fails repeatedly')
  }
}
