import type { Clock } from '../../lib/clock.ts'
import type { ReplicaUsage } from '../engine.ts'
import { absent, inspectContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { ContainerStats } from './docker-api.ts'

/** One sample of a running container's control groups. */
export interface Sample {
  /** The daemon's clock, in milliseconds. */
  readonly atMs: number
  /** Nanoseconds of all cores since the container started. */
  readonly cpuNanos: number
  readonly memoryBytes: number
  readonly memoryLimitBytes: number
}

const mebibyte = 1024 * 1024
/** The least age of the earlier sample: closer samples say little about a rate. */
const shortestMs = 400
/** The largest age of the earlier sample. */
const longestMs = 60_000

/** A container's last samples, oldest first, and its limit, which is fixed at its creation. */
interface Known {
  readonly cpuLimitMilli: number
  samples: readonly Sample[]
}

/**
 * Measures what replicas use. A rate needs two samples: the last ones are kept, and a first call
 * waits for a second one. Each call costs one cheap request per container. Docker's own statistics
 * would make it wait for a second.
 */
export class Usage {
  readonly #daemon: DockerDaemon
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()

  constructor(options: { readonly daemon: DockerDaemon; readonly clock: Clock }) {
    this.#daemon = options.daemon
    this.#clock = options.clock
  }

  async of(
    containers: readonly { readonly id: string; readonly name: string }[],
    signal: AbortSignal,
  ): Promise<ReplicaUsage[]> {
    const found = await Promise.all(containers.map((container) => this.#one(container, signal)))
    return found.filter((usage) => usage !== undefined)
  }

  /** Forgets containers that no longer exist. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id)
  }

  async #one(
    { id, name }: { readonly id: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<ReplicaUsage | undefined> {
    const known = this.#known.get(id) ?? (await this.#meet(id, signal))
    let now = await this.#look(id, signal)
    if (!known || !now) return undefined
    let before = baseline(known.samples, now)
    if (!before) {
      before = now
      await this.#clock.sleep(shortestMs, signal)
      now = await this.#look(id, signal)
      if (!now) return undefined
    }
    known.samples = [before, now]
    return usageOf(name, known.cpuLimitMilli, before, now)
  }

  async #meet(id: string, signal: AbortSignal): Promise<Known | undefined> {
    const state = await inspectContainer(this.#daemon, id, signal)
    if (!state) return undefined
    const known = { cpuLimitMilli: state.cpuLimitMilli, samples: [] }
    this.#known.set(id, known)
    return known
  }

  /** Takes a sample. Undefined: the container does not run. */
  async #look(id: string, signal: AbortSignal): Promise<Sample | undefined> {
    let stats: object | undefined
    const query = { stream: false, 'one-shot': true }
    await absent(
      this.#daemon.json({ method: 'GET', path: `/containers/${id}/stats`, query, signal }).then((answer) => {
        stats = answer
      }),
    )
    // Docker's published API guarantees this shape.
    return stats && sampleOf(stats as ContainerStats)
  }
}

/** Returns the newest sample that is old enough for a rate and from the same start. */
export const baseline = (samples: readonly Sample[], now: Sample): Sample | undefined =>
  samples.findLast(({ atMs, cpuNanos }) => {
    const ageMs = now.atMs - atMs
    return ageMs >= shortestMs && ageMs <= longestMs && cpuNanos <= now.cpuNanos
  })

/** Parses one response of `GET /containers/{id}/stats`. Undefined if the container does not run. */
export function sampleOf(stats: ContainerStats): Sample | undefined {
  const { usage, limit, stats: details } = stats.memory_stats
  const cpuNanos = stats.cpu_stats.cpu_usage?.total_usage
  if (usage === undefined || cpuNanos === undefined) return undefined
  // File pages that the kernel can drop at any time do not count as used. Version 1 of control
  // groups has another name for them.
  const droppable = details?.total_inactive_file ?? details?.inactive_file ?? 0
  return {
    atMs: Date.parse(stats.read),
    cpuNanos,
    memoryBytes: droppable < usage ? usage - droppable : usage,
    memoryLimitBytes: limit ?? 0,
  }
}

/** Pure: calculates the usage from two samples. */
export function usageOf(replica: string, cpuLimitMilli: number, before: Sample, now: Sample): ReplicaUsage {
  const nanos = now.cpuNanos - before.cpuNanos
  const ms = now.atMs - before.atMs
  return {
    replica,
    cpuMilli: ms > 0 ? Math.max(0, Math.round(nanos / 1000 / ms)) : 0,
    cpuLimitMilli,
    memoryMiB: Math.round(now.memoryBytes / mebibyte),
    memoryLimitMiB: Math.round(now.memoryLimitBytes / mebibyte),
  }
}
