/**
 * How many replicas the settings allow. Other kinds than those that scale have neither, and exactly
 * one replica.
 */
export interface Instances {
  readonly min_running_instances?: number | null
  /** -1: as many as the machine bears. */
  readonly max_running_instances?: number | null
}

export interface Range {
  /** 0: it may sleep. */
  readonly min: number
  readonly max: number
}

/** More never run of one service, whatever its settings say. */
export const mostReplicas = 100

export function rangeOf(instances: Instances): Range {
  const min = Math.max(0, instances.min_running_instances ?? 1)
  const max = instances.max_running_instances ?? 1
  return { min, max: max < 0 ? mostReplicas : Math.max(1, min, max) }
}

/** Pure: how many replicas should run. `scale` is what was written down, null when nothing was. */
export function wantedReplicas({ min, max }: Range, scale: number | null): number {
  if (scale === 0 && min === 0) return 0
  return Math.min(max, Math.max(1, min, scale ?? 0))
}
