import type { EngineDisk } from '../engines/index.ts'

/** What an unfinished run may write outside volumes. */
export interface RunLimit {
  readonly run_id: string
  /** Null if the platform's limit applies. */
  readonly limit_gib: number | null
}

/** A run to end. */
export interface FullRun {
  readonly id: string
  readonly reason: string
}

const gibibyte = 1024 ** 3

/** Returns the run of an attempt. The attempt's id begins with the id of the run's row. */
export const rowOfRun = (run: string): string => run.slice(0, 36)

/**
 * Pure: returns runs that wrote more outside volumes than allowed. What a run's failed attempts
 * wrote is kept until the run ends, so it counts.
 */
export function fullRuns(runs: EngineDisk['runs'], limits: readonly RunLimit[], usualGiB: number): readonly FullRun[] {
  const taken = new Map<string, number>()
  for (const { run, bytes } of runs) taken.set(rowOfRun(run), (taken.get(rowOfRun(run)) ?? 0) + bytes)
  return limits.flatMap(({ run_id, limit_gib }) => {
    const bytes = taken.get(run_id) ?? 0
    const limit = limit_gib ?? usualGiB
    return bytes > limit * gibibyte ? [{ id: run_id, reason: reasonOf(bytes, limit) }] : []
  })
}

const reasonOf = (bytes: number, limit: number): string =>
  `It was ended: it wrote ${(Math.ceil((bytes / gibibyte) * 10) / 10).toFixed(1)} GiB to the disk, and its ` +
  `limit is ${limit} GiB. Make it write less, or raise ephemeral_storage_in_gib of its job.`
