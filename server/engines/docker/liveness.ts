import type { Clock } from '../../lib/clock.ts'
import { parseForeign } from '../../lib/foreign-json.ts'
import type { Probe } from '../engine.ts'
import { execIn } from './container-output.ts'
import { inspectContainer, listContainers } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { ContainerInfo } from './docker-api.ts'
import { label } from './labels.ts'
import { graceAfterPreStop } from './lifecycle.ts'
import { probe } from './probe.ts'
import { type Source, UntilEvent } from './until-event.ts'

interface Watched {
  readonly startedAt: string
  readonly sinceMs: number
  askedMs: number
  failures: number
  busy: boolean
}

const numbers = ['initialDelaySeconds', 'periodSeconds', 'timeoutSeconds', 'failureThreshold'] as const

/**
 * Parses the probe in a label. Undefined for any text that the engine never writes: in earlier
 * versions this label could come from an image, and such a text must not end the checks of all
 * other containers.
 */
export function probeOf(text: string | undefined): Probe | undefined {
  try {
    const value: unknown = parseForeign(Buffer.from(text ?? ''))
    const isProbe =
      typeof Object(value).check?.type === 'string' && numbers.every((name) => Number.isFinite(Object(value)[name]))
    // `as`: the label was written from a Probe, and its members were checked above.
    return isProbe ? (value as Probe) : undefined
  } catch {
    return undefined
  }
}

export interface LivenessOptions extends Source {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
}

/**
 * Restarts running replicas that fail their liveness probe. Counts failures in memory: a restart of
 * the platform resets the counts, which only delays a restart.
 */
export class Liveness {
  readonly #daemon: DockerDaemon
  readonly #clock: Clock
  readonly #instance: string
  readonly #watched = new Map<string, Watched>()
  readonly #listed: UntilEvent<readonly ContainerInfo[]>

  constructor(options: LivenessOptions) {
    this.#daemon = options.daemon
    this.#clock = options.clock
    this.#instance = options.instance
    this.#listed = new UntilEvent(options)
  }

  async check(signal: AbortSignal): Promise<string[]> {
    const { value: listed } = await this.#listed.get(() => this.#list(signal))
    const probed = listed.filter(({ State }) => State === 'running')
    const ids = new Set(probed.map(({ Id }) => Id))
    for (const id of this.#watched.keys()) if (!ids.has(id)) this.#watched.delete(id)
    const restarted = await Promise.all(probed.map((container) => this.#checkOne(container, signal)))
    return restarted.filter((name) => name !== undefined)
  }

  #list(signal: AbortSignal): Promise<readonly ContainerInfo[]> {
    const filter = { instance: this.#instance, labels: { [label.liveness]: true } as const }
    return listContainers(this.#daemon, filter, signal)
  }

  async #checkOne({ Id, Labels }: ContainerInfo, signal: AbortSignal): Promise<string | undefined> {
    const liveness = probeOf(Labels[label.liveness])
    if (!liveness) return undefined
    const known = this.#watched.get(Id)
    if (known && (known.busy || !isDue(known, liveness, this.#clock.monotonic()))) return undefined
    const state = await inspectContainer(this.#daemon, Id, signal)
    if (!state?.running || state.address === undefined) return undefined
    const watched = known?.startedAt === state.startedAt ? known : this.#begin(Id, state.startedAt)
    if (!isDue(watched, liveness, this.#clock.monotonic())) return undefined
    watched.busy = true
    try {
      watched.askedMs = this.#clock.monotonic()
      const exec = (command: readonly string[], ended: AbortSignal) => execIn(this.#daemon, Id, command, ended)
      const outcome = await probe(liveness.check, { address: state.address, exec }, liveness.timeoutSeconds, signal)
      watched.failures = outcome.healthy ? 0 : watched.failures + 1
      if (watched.failures < liveness.failureThreshold) return undefined
      this.#watched.delete(Id)
      const where = { daemon: this.#daemon, clock: this.#clock }
      const graceSeconds = await graceAfterPreStop(where, { id: Id, labels: state.labels }, signal)
      const query = { t: graceSeconds }
      const timeoutMs = (graceSeconds + 60) * 1000
      await this.#daemon.send({ method: 'POST', path: `/containers/${Id}/restart`, query, signal, timeoutMs })
      return state.name
    } finally {
      watched.busy = false
    }
  }

  #begin(id: string, startedAt: string): Watched {
    const watched = {
      startedAt,
      sinceMs: this.#clock.monotonic(),
      askedMs: Number.NEGATIVE_INFINITY,
      failures: 0,
      busy: false,
    }
    this.#watched.set(id, watched)
    return watched
  }
}

/** Whether the next check is due and the initial delay is over. */
export const isDue = (
  watched: Pick<Watched, 'sinceMs' | 'askedMs'>,
  liveness: Pick<Probe, 'initialDelaySeconds' | 'periodSeconds'>,
  nowMs: number,
): boolean =>
  nowMs - watched.sinceMs >= liveness.initialDelaySeconds * 1000 &&
  nowMs - watched.askedMs >= liveness.periodSeconds * 1000
