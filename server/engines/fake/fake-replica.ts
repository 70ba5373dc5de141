import type { Endpoint, LogLine, LongRunning, Observation, Replica } from '../engine.ts'
import { manyExits } from '../observation.ts'

export interface FakeReplica {
  readonly name: string
  readonly release: string
  readonly service: string
  readonly environment: string
  readonly workload: LongRunning
  /** By the clock's monotonic time. */
  readonly createdMs: number
  running: boolean
  startedAt: Date | undefined
  finishedAt: Date | undefined
  exits: number
  exitCode: number | undefined
  outOfMemory: boolean
  readonly endpoints: readonly Endpoint[]
  readonly lines: LogLine[]
}

/** Reports the same states and reasons as the real engines. Replicas are given oldest first. */
export function observationOf(replicas: readonly FakeReplica[]): Observation {
  const releases = [...Map.groupBy(replicas, (replica) => replica.release).values()].reverse()
  const chosen = releases.find((release) => release.every(({ running }) => running)) ?? releases[0]
  const first = chosen?.[0]
  if (!chosen || !first) return { state: 'absent' }
  const wanted = Math.max(1, first.workload.replicas.min)
  const failing = chosen.find((replica) => !replica.running && replica.exits >= manyExits)
  const up = chosen.filter(({ running }) => running).length
  const missing = wanted - chosen.length
  const reason = failing
    ? `exited with code ${failing.exitCode}, ${failing.exits} times`
    : missing > 0
      ? `${missing} of ${wanted} replicas ${missing === 1 ? 'is' : 'are'} missing`
      : undefined
  return {
    state: failing ? 'failing' : up === wanted ? 'running' : up > 0 ? 'starting' : 'stopped',
    release: first.release,
    replicas: replicas.map(toReplica),
    ...(reason && { reason }),
  }
}

const toReplica = (one: FakeReplica): Replica => ({
  name: one.name,
  release: one.release,
  running: one.running,
  image: one.workload.image,
  ...(one.startedAt && { startedAt: one.startedAt }),
  ...(one.finishedAt && { finishedAt: one.finishedAt }),
  exits: one.exits,
  ...(one.exitCode !== undefined && { exitCode: one.exitCode }),
  outOfMemory: one.outOfMemory,
  endpoints: one.running ? one.endpoints : [],
})
