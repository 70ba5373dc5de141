import type { TaskOutcome } from '../engines/index.ts'
import type { JobRunRow } from './job-run.ts'
import { lastOccurrence, nextOccurrence, type Timetable } from './timetable.ts'

export type ConcurrencyPolicy = 'Forbidden' | 'Allow' | 'Replace'

/** Whether a run of the timetable begins while other runs of its service are active. */
export type Start =
  | { readonly kind: 'start'; readonly replaces: readonly string[] }
  | { readonly kind: 'skip'; readonly reason: string }

/** Runs that a person requested are not replaced, because that person waits for them. */
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
 * Decides the moment for which a due schedule runs, and the next moment. Of several missed moments
 * the last one counts. It never goes back, so a clock that was set back runs nothing twice.
 */
export function decideClaim(
  timetable: Timetable,
  dueAt: Date,
  now: Date,
): { readonly at: Date; readonly next: Date | null } {
  const at = lastOccurrence(timetable, dueAt, now) ?? dueAt
  return { at, next: nextOccurrence(timetable, at) ?? null }
}

/**
 * Decides how a schedule begins, or continues under another version. If its times are unchanged, it
 * skips none.
 */
export function decideNext(
  timetable: Timetable,
  former: (Timetable & { readonly next_at: Date | null }) | undefined,
  now: Date,
): Date | null {
  const isSame = former?.scheduled_at === timetable.scheduled_at && former.timezone === timetable.timezone
  return isSame ? former.next_at : (nextOccurrence(timetable, now) ?? null)
}

const longestPauseMs = 300_000

/** Returns the pause after so many tries: one second, doubled after each try. */
export const pauseMs = (tries: number): number => Math.min(longestPauseMs, 1000 * 2 ** (tries - 1))

/** Returns why a run failed and what to do, or undefined if it succeeded. */
export function failureOf(
  { exitCode, outOfMemory, timedOut }: Pick<TaskOutcome, 'exitCode' | 'outOfMemory' | 'timedOut'>,
  limits: { readonly timeoutSeconds: number; readonly memoryMiB: number },
): string | undefined {
  if (timedOut) {
    return (
      `It took longer than ${limits.timeoutSeconds} s and was ended. Make it faster, or raise ` +
      'max_duration_seconds.'
    )
  }
  if (outOfMemory) return `It ran out of memory (${limits.memoryMiB} MiB). Give it more, or make it use less.`
  return exitCode === 0 ? undefined : `It ended with exit code ${exitCode}.`
}
