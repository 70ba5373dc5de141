import type { TaskOutcome } from '../engines/index.ts'
import type { JobRunRow } from './job-run.ts'
import { lastOccurrence, nextOccurrence, type Timetable } from './timetable.ts'

export type ConcurrencyPolicy = 'Forbidden' | 'Allow' | 'Replace'

/** Whether a run of the timetable begins while others of its service go on. */
export type Start =
  | { readonly kind: 'start'; readonly replaces: readonly string[] }
  | { readonly kind: 'skip'; readonly reason: string }

/** Pure. Runs that somebody forced are not replaced: who asked for one waits for it. */
export function decideStart(
  policy: ConcurrencyPolicy,
  others: readonly Pick<JobRunRow, 'id' | 'trigger' | 'scheduled_at' | 'created_at'>[],
): Start {
  const inTheWay =
    policy === 'Allow' ? undefined : others.find((one) => policy === 'Forbidden' || one.trigger !== 'CRON')
  if (inTheWay) {
    const moment = (inTheWay.scheduled_at ?? inTheWay.created_at).toISOString()
    return { kind: 'skip', reason: `The run of ${moment} was still going (cronjob.concurrency_policy is ${policy}).` }
  }
  return { kind: 'start', replaces: policy === 'Replace' ? others.map(({ id }) => id) : [] }
}

/**
 * Pure: for which moment a schedule whose next one has come, or is about to, is to run, and when it comes next. Of moments that were
 * missed the last one counts. Never goes back: a clock that was put back runs nothing twice.
 */
export function decideClaim(
  timetable: Timetable,
  dueAt: Date,
  now: Date,
): { readonly at: Date; readonly next: Date | null } {
  const at = lastOccurrence(timetable, dueAt, now) ?? dueAt
  return { at, next: nextOccurrence(timetable, at) ?? null }
}

/** Pure: when a schedule begins, or goes on under another version. One whose times are the same as before leaves none out. */
export function decideNext(
  timetable: Timetable,
  former: (Timetable & { readonly next_at: Date | null }) | undefined,
  now: Date,
): Date | null {
  const isSame = former?.scheduled_at === timetable.scheduled_at && former.timezone === timetable.timezone
  return isSame ? former.next_at : (nextOccurrence(timetable, now) ?? null)
}

const longestPauseMs = 300_000

/** How long to wait after so many tries: one second, then twice as long each time. */
export const pauseMs = (tries: number): number => Math.min(longestPauseMs, 1000 * 2 ** (tries - 1))

/** Pure: why a run failed, and what to do; undefined when it ended well. */
export function failureOf(
  { exitCode, outOfMemory, timedOut }: Pick<TaskOutcome, 'exitCode' | 'outOfMemory' | 'timedOut'>,
  limits: { readonly timeoutSeconds: number; readonly memoryMiB: number },
): string | undefined {
  if (timedOut) {
    return `It took longer than ${limits.timeoutSeconds} s and was ended. Make it faster, or raise max_duration_seconds.`
  }
  if (outOfMemory) return `It ran out of memory (${limits.memoryMiB} MiB). Give it more, or make it use less.`
  return exitCode === 0 ? undefined : `It ended with exit code ${exitCode}.`
}
