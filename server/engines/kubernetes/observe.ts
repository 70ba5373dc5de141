import { manyExits, type Observation } from '../engine.ts'
import { type DeploymentState, keyOfRelease, type PodState, toReplica } from './pod-state.ts'
import { explainWaiting } from './waiting.ts'

/** A replica with many exits that has run for less is failing. */
const youngMs = 60_000

interface ReleaseState {
  readonly release: string
  readonly createdAt: string
  readonly wanted: number
  readonly isHeld: boolean
  readonly refusal: string | undefined
  readonly pods: readonly PodState[]
}

const noRelease: ReadonlySet<string> = new Set()

/**
 * Returns the observation of one service. If two releases run side by side, the state is that of
 * the newest fully running one, else of the newest that runs at all, else of the newest. Pods that
 * leave are not replicas any more. Replicas of a release in `changed` (`keyOfRelease`) are reported
 * as such. Pure.
 */
export function toObservation(
  deployments: readonly DeploymentState[],
  pods: readonly PodState[],
  now: Date,
  changed = noRelease,
): Observation {
  const present = pods.filter(({ isLeaving, run }) => !isLeaving && run === undefined)
  const releases = deployments
    .map(
      ({ release, createdAt, replicas, refusal, isHeld }): ReleaseState => ({
        release,
        isHeld,
        createdAt,
        wanted: replicas,
        refusal,
        pods: present.filter((pod) => pod.release === release),
      }),
    )
    .sort((a, b) => b.createdAt.localeCompare(a.createdAt) || b.release.localeCompare(a.release))
  const chosen = releases.find(isWhole) ?? releases.find(({ pods: own }) => own.some(isUp)) ?? releases[0]
  if (!chosen) return { state: 'absent' }
  const reason = reasonOf(chosen, now)
  return {
    state: stateOf(chosen, now),
    release: chosen.release,
    replicas: present
      .map((pod) => ({ ...toReplica(pod), ...(changed.has(keyOfRelease(pod)) && { isChanged: true as const }) }))
      .sort((a, b) => a.name.localeCompare(b.name)),
    ...(chosen.isHeld && { isHeld: true }),
    ...(reason && { reason }),
  }
}

function stateOf(release: ReleaseState, now: Date): 'running' | 'starting' | 'failing' | 'stopped' {
  if (release.isHeld) return 'starting'
  if (release.wanted === 0 && release.pods.length === 0) return 'stopped'
  if (release.pods.some((pod) => isFailing(pod, now))) return 'failing'
  return isWhole(release) ? 'running' : 'starting'
}

const isUp = ({ running }: PodState): boolean => running
const upCount = ({ pods }: ReleaseState): number => pods.filter(isUp).length
const isWhole = (release: ReleaseState): boolean => release.wanted > 0 && upCount(release) >= release.wanted

/** Whether a pod exits again and again. Pure. */
export function isFailing(pod: PodState, now: Date): boolean {
  if (pod.exits < manyExits) return false
  const isYoung = pod.startedAt !== undefined && now.getTime() - Date.parse(pod.startedAt) < youngMs
  return !pod.running || isYoung
}

function reasonOf(release: ReleaseState, now: Date): string | undefined {
  const { pods, wanted, refusal, isHeld } = release
  if (isHeld) return 'its volumes are being copied'
  const bad = pods.find((pod) => isFailing(pod, now)) ?? pods.find((pod) => !pod.running && pod.exits > 0)
  if (bad) return describeExits(bad)
  if (refusal !== undefined) return `the cluster creates no replica: ${refusal}`
  const waiting = pods.find(({ running, waiting: why }) => !running && why !== undefined)?.waiting
  const missing = Math.max(0, wanted - upCount(release))
  if (missing === 0) return undefined
  const count = `${missing} of ${wanted} replicas ${missing === 1 ? 'is' : 'are'} missing`
  return waiting ? `${count}: ${explainWaiting(waiting)}` : count
}

/** Says how a pod exited. Pure. */
export function describeExits({ exits, exitCode, outOfMemory }: PodState): string {
  const times = `${exits} ${exits === 1 ? 'time' : 'times'}`
  if (outOfMemory) return `ran out of memory, exited ${times}`
  return exitCode === undefined ? `exited ${times}` : `exited with code ${exitCode}, ${times}`
}
