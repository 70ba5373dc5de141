/**
 * The number of replicas that the settings allow. Kinds that do not scale have no such settings,
 * and exactly one replica.
 */
export interface Instances {
  readonly min_running_instances?: number | null
  /** -1 means as many as the machine has room for. */
  readonly max_running_instances?: number | null
}

export interface Range {
  /** 0 means that it may sleep. */
  readonly min: number
  readonly max: number
}

/** The most replicas of one service, whatever its settings say. */
export const mostReplicas = 100

export function rangeOf(instances: Instances): Range {
  const min = Math.max(0, instances.min_running_instances ?? 1)
  const max = instances.max_running_instances ?? 1
  return { min, max: max < 0 ? mostReplicas : Math.max(1, min, max) }
}

/** Whether the number of replicas of a running service may change by load. */
export const mayScale = ({ min, max }: Range): boolean => max > Math.max(1, min)

/**
 * Pure: returns how many replicas should run. `scale` is the stored number, null if there is none.
 */
export function wantedReplicas({ min, max }: Range, scale: number | null): number {
  if (scale === 0 && min === 0) return 0
  return Math.min(max, Math.max(1, min, scale ?? 0))
}
