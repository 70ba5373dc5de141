import type { Database } from '../database/index.ts'
import { EngineError, type Release, type Task, type TaskOutcome, type TaskRunner } from '../engines/index.ts'
import type { LineSink } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Step } from '../workflows/index.ts'
import { failureOf, pauseMs } from './decide.ts'
import { type RunEnd, tryId } from './job-run.ts'
import { readReason } from './job-run-store.ts'

export interface RunningOptions {
  readonly database: Database
  readonly engine: TaskRunner
  readonly clock: Clock
}

/** One run and its dependencies. */
export interface Run {
  readonly id: string
  readonly release: Release<Task>
  /** How often its program is restarted after a failure. */
  readonly retries: number
  /** The prefix of its step names. */
  readonly prefix: string
  /** Makes the image available on the engine. */
  readonly haveImage: (signal: AbortSignal) => Promise<void>
  /** Called when everything is prepared. If it returns false, nothing runs. */
  readonly mayStart?: () => Promise<boolean>
  /** Awaited right before the first try. */
  readonly untilTime?: (signal: AbortSignal) => Promise<void>
  /**
   * Called with the output file of a successful run. Returns a message if the file is invalid. May
   * be called again after a crash.
   */
  readonly takeOutput: (outcome: TaskOutcome) => Promise<string | undefined>
  readonly output: LineSink
}

/**
 * Time in addition to the program's limit, for an unreachable engine and for reporting the result.
 */
const marginSeconds = 900
const prepareSeconds = 600

/**
 * Runs the program to its end, and again after a failure as often as the run allows. Returns
 * undefined if it may not start. Every try is two steps, so the next holder of the workflow joins
 * the current try and starts no try twice.
 */
export async function runToEnd(
  options: RunningOptions,
  run: Run,
  { step, signal }: { readonly step: Step; readonly signal: AbortSignal },
): Promise<RunEnd | undefined> {
  let startedAt: string | null = null
  for (let tries = 1; ; tries++) {
    try {
      await prepare(options, run, tries, step)
      if (tries === 1 && run.mayStart && !(await run.mayStart())) return undefined
      const tried = await step(`${run.prefix}RUN-${tries}`, (attempt) => runOnce(options, run, tries, attempt.signal), {
        deadlineSeconds: run.release.workload.timeoutSeconds + marginSeconds,
        rests: 'at once',
      })
      startedAt ??= tried.startedAt
      const isLast = tried.reason === null || tried.isFinal || tries > run.retries
      if (isLast) return { ...end(tried), tries, startedAt }
      await pause(options, run, tried, tries, signal)
    } catch (error) {
      if (!(error instanceof EngineError) || signal.aborted) throw error
      // The remains of a run that the platform ends are removed while it is awaited.
      const reason = await readReason(options.database, run.id)
      return failed(reason === undefined ? error : new EngineError('crashed', reason), tries, startedAt)
    }
  }
}

/** The result of one try. */
type Tried = Omit<RunEnd, 'tries'> & { readonly isFinal: boolean }
const end = ({ exitCode, finishedAt, reason, lastLines }: Tried) => ({ exitCode, finishedAt, reason, lastLines })

function failed(error: EngineError, tries: number, startedAt: string | null): RunEnd {
  const { message: reason, lastLines } = error
  return { tries, exitCode: null, startedAt, finishedAt: null, reason, lastLines: [...lastLines] }
}

const prepare = (options: RunningOptions, run: Run, tries: number, step: Step): Promise<void> =>
  step(
    `${run.prefix}PREPARE-${tries}`,
    ({ signal }) =>
      untilReached(options, run.output, signal, async () => {
        const reason = await readReason(options.database, run.id)
        if (reason !== undefined) throw new EngineError('crashed', reason)
        if (tries === 1) await run.haveImage(signal)
        await options.engine.prepareTask(run.release, tryId(run.id, tries), { signal, output: run.output })
      }),
    { deadlineSeconds: prepareSeconds },
  )

async function runOnce(options: RunningOptions, run: Run, tries: number, signal: AbortSignal): Promise<Tried> {
  const { release, output, untilTime = async () => {} } = run
  const outcome = await untilReached(options, output, signal, () =>
    options.engine.runTask(release, tryId(run.id, tries), {
      signal,
      output,
      ...(tries === 1 && { whenReady: () => untilTime(signal) }),
    }),
  )
  const ended = await readReason(options.database, run.id)
  const failure = ended ?? failureOf(outcome, release.workload)
  // A repetition would write the same invalid file.
  const problem = failure === undefined ? await run.takeOutput(outcome) : undefined
  const reason = failure ?? problem ?? null
  return {
    exitCode: outcome.exitCode,
    startedAt: outcome.startedAt.toISOString(),
    finishedAt: outcome.finishedAt.toISOString(),
    reason,
    lastLines: reason === null ? [] : [...outcome.lastLines],
    isFinal: problem !== undefined || ended !== undefined,
  }
}

/** Counts from the end of the try, even if no server ran meanwhile. */
async function pause(
  { clock }: RunningOptions,
  run: Run,
  { reason, finishedAt }: Tried,
  tries: number,
  signal: AbortSignal,
): Promise<void> {
  const wholeMs = pauseMs(tries)
  run.output.line(`${reason} It is retried in ${wholeMs / 1000} s (try ${tries + 1} of ${run.retries + 1}).`, 'warning')
  const sinceMs = clock.now().getTime() - Date.parse(finishedAt ?? '')
  await clock.sleep(Math.max(0, wholeMs - Math.max(0, sinceMs)), signal)
}

/** Retries while the engine is unreachable. */
async function untilReached<T>(
  { clock }: RunningOptions,
  output: LineSink,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof EngineError) || error.reason !== 'unreachable' || signal.aborted) throw error
      if (tries === 0) output.line('The engine cannot be reached; trying again until it answers.', 'warning')
      await clock.sleep(1000, signal)
    }
  }
}
