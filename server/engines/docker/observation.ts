import type { Observation, Replica } from '../engine.ts'
import { manyExits } from '../observation.ts'
import { endpointsOf, isChanged, isUp, type ReplicaState } from './replica-state.ts'

/** A replica with many exits that has run for less is failing. */
const youngMs = 60_000

/**
 * Returns the observation of one service. If two releases run side by side, the state is that of
 * the newest fully running one, else of the newest that runs at all, else of the newest. The
 * replicas of all releases are listed.
 */
export function toObservation(states: readonly ReplicaState[], now: Date): Observation {
  const present = states.filter((state) => state.status !== 'removing')
  const releases = [...Map.groupBy(present, (state) => state.release).values()].sort((a, b) =>
    newest(b).localeCompare(newest(a)),
  )
  const chosen =
    releases.find((release) => missing(release) === 0 && release.every(isUp)) ??
    releases.find((release) => release.some((state) => state.running)) ??
    releases[0]
  const first = chosen?.[0]
  if (!chosen || !first) return { state: 'absent' }
  const reason = reasonOf(chosen, now)
  return {
    state: stateOf(chosen, now),
    release: first.release,
    replicas: present.map(toReplica).sort((a, b) => a.name.localeCompare(b.name)),
    ...(reason && { reason }),
  }
}

function stateOf(release: readonly ReplicaState[], now: Date): 'running' | 'starting' | 'failing' | 'stopped' {
  if (release.some((state) => isFailing(state, now))) return 'failing'
  if (release.every(isUp) && missing(release) === 0) return 'running'
  const isComing = release.some((state) => state.running || state.status === 'created' || state.status === 'restarting')
  return isComing ? 'starting' : 'stopped'
}

/** Whether the observation of a replica changes without an event: it fails while it is young. */
export const changesWithTime = ({ exits }: ReplicaState): boolean => exits >= manyExits

function isFailing(state: ReplicaState, now: Date): boolean {
  if (!changesWithTime(state)) return false
  const isYoung = now.getTime() - Date.parse(state.startedAt) < youngMs
  return state.status === 'restarting' || (state.running && isYoung)
}

function reasonOf(release: readonly ReplicaState[], now: Date): string | undefined {
  const bad =
    release.find((state) => isFailing(state, now)) ?? release.find((state) => !state.running && state.exits > 0)
  if (bad) return describeExits(bad)
  const paused = release.find((state) => state.status === 'paused')
  if (paused) return `${paused.name} is paused`
  const apart = release.find((state) => state.running && !isUp(state))
  if (apart) return `${apart.name} is not in the network of its environment`
  const absent = missing(release)
  return absent > 0
    ? `${absent} of ${release.length + absent} replicas ${absent === 1 ? 'is' : 'are'} missing`
    : undefined
}

export function describeExits(
  state: Pick<ReplicaState, 'exits' | 'exitCode' | 'outOfMemory' | 'memoryLimitMiB'>,
): string {
  const times = `${state.exits} ${state.exits === 1 ? 'time' : 'times'}`
  if (state.outOfMemory) return `ran out of memory (${state.memoryLimitMiB} MiB), exited ${times}`
  return state.exitCode === undefined ? `exited ${times}` : `exited with code ${state.exitCode}, ${times}`
}

function toReplica(state: ReplicaState): Replica {
  const [startedAt, finishedAt] = [momentOf(state.startedAt), momentOf(state.finishedAt)]
  return {
    name: state.name,
    release: state.release,
    running: isUp(state),
    image: state.image,
    ...(startedAt && { startedAt }),
    ...(finishedAt && { finishedAt }),
    exits: state.exits,
    ...(state.exitCode !== undefined && { exitCode: state.exitCode }),
    outOfMemory: state.outOfMemory,
    ...(isChanged(state) && { isChanged: true }),
    endpoints: endpointsOf(state),
  }
}

/** Returns a time. Docker writes the year 1 for an event that never happened. */
function momentOf(text: string): Date | undefined {
  const date = new Date(text)
  return date.getTime() > 0 ? date : undefined
}

const missing = (release: readonly ReplicaState[]): number => Math.max(0, (release[0]?.replicas ?? 0) - release.length)

const newest = (release: readonly ReplicaState[]): string =>
  release
    .map((state) => state.createdAt)
    .sort()
    .at(-1) ?? ''
