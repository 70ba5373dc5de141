import type { ReplicaUsage } from '../engines/index.ts'
import type { Targets } from './targets.ts'

/** The facts about one service that decide how many replicas it needs. */
export interface Load {
  /** The current number. At least one. */
  readonly replicas: number
  readonly min: number
  readonly max: number
  /** The number for which the machine has room. */
  readonly room: number
  readonly usage: readonly ReplicaUsage[]
  readonly targets: Targets
}

export interface Recommendation {
  /** By a monotonic clock. */
  readonly atMs: number
  readonly replicas: number
}

export interface Decision {
  readonly replicas: number
  /** Pass it to the next call. */
  readonly history: readonly Recommendation[]
  /** Whether more replicas are needed than there is room for. */
  readonly full: boolean
}

/** As in Kubernetes' horizontal autoscaler: within a tenth of the target nothing changes … */
const tolerance = 0.1
/** … replicas are added at once, but at most this many in one step … */
const atLeastAdded = 4
/** … and removed only if no more were needed for this long. */
const stabilisationMs = 300_000

/** Pure: returns how many replicas should run from now on. */
export function decideReplicas(load: Load, history: readonly Recommendation[], nowMs: number): Decision {
  const { replicas, room } = load
  const needed = recommend(load)
  const recommended = needed > replicas ? Math.max(replicas, Math.min(needed, room)) : needed
  const kept = [...history.filter(({ atMs }) => nowMs - atMs < stabilisationMs), { atMs: nowMs, replicas: recommended }]
  const highest = Math.max(...kept.map((one) => one.replicas))
  // To remove replicas, a whole window without a need for more must have passed. A new window has
  // not seen that.
  const isWatched = history.some(({ atMs }) => nowMs - atMs >= stabilisationMs)
  const lower = isWatched ? Math.min(replicas, highest) : replicas
  const oldest = history.findLast(({ atMs }) => nowMs - atMs >= stabilisationMs)
  return {
    replicas: recommended >= replicas ? recommended : lower,
    history: oldest ? [oldest, ...kept] : kept,
    full: needed > recommended && needed > replicas,
  }
}

/**
 * Pure: returns the number that the current use needs, within the settings, without regard to room.
 */
export function recommend({ replicas, min, max, usage, targets }: Load): number {
  const cpu = usage.flatMap((one) => percent(one.cpuMilli, one.cpuLimitMilli))
  const memory = usage.flatMap((one) => percent(one.memoryMiB, one.memoryLimitMiB))
  const wishes = [forMetric(replicas, cpu, targets.cpuPercent)]
  if (targets.memoryPercent !== undefined) wishes.push(forMetric(replicas, memory, targets.memoryPercent))
  const most = Math.min(max, Math.max(2 * replicas, replicas + atLeastAdded))
  return Math.min(most, Math.max(1, min, ...wishes))
}

const percent = (used: number, limit: number): number[] => (limit > 0 ? [(100 * used) / limit] : [])

/**
 * A replica without figures counts as idle when replicas would be added, and as used exactly to the
 * target when they would be removed.
 */
function forMetric(replicas: number, percents: readonly number[], target: number): number {
  if (percents.length === 0 || target <= 0) return replicas
  const sum = percents.reduce((total, one) => total + one, 0)
  const ratio = sum / percents.length / target
  if (Math.abs(ratio - 1) <= tolerance) return replicas
  const silent = Math.max(0, replicas - percents.length)
  if (silent === 0) return Math.ceil(ratio * replicas)
  const careful = (ratio > 1 ? sum : sum + silent * target) / (percents.length + silent) / target
  const isSameWay = ratio > 1 ? careful > 1 + tolerance : careful < 1 - tolerance
  return isSameWay ? Math.ceil(careful * replicas) : replicas
}
