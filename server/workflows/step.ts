import type { Attempt } from '../lib/attempt.ts'
import { messageOf } from '../lib/error.ts'
import type { Json } from '../lib/json.ts'
import { createRunPlace } from './run-place.ts'
import type { Run } from './run-workflow.ts'
import { persist } from './statement.ts'
import * as steps from './step-store.ts'
import { workUntil } from './work-until.ts'
import { CanceledError, type Step, type StepOptions, StepTimeoutError } from './workflow.ts'

const defaultDeadlineSeconds = 600
const longestText = 8192

interface Named {
  readonly name: string
  readonly work: (attempt: Pick<Attempt, 'signal'>) => Promise<Json | undefined>
  readonly options: StepOptions
}

/** The step function of one run. `ended` contains the results that earlier runs recorded. */
export function createStep(run: Run, ended: ReadonlyMap<string, Json | undefined>): Step {
  const results = new Map(ended)
  const active = new Set<string>()
  const place = createRunPlace(run)
  let isProgress = true

  async function take({ name, work, options }: Named): Promise<Json | undefined> {
    if (results.has(name)) return results.get(name)
    if (active.has(name)) throw new Error(`step "${name}" is already running: parallel steps need different names`)
    active.add(name)
    try {
      await refuseCanceled(run, name, options)
      await place.enter(options.rests !== undefined)
      try {
        const result = await attempt(run, { name, work, options }, isProgress)
        isProgress = false
        results.set(name, result)
        if (options.rests === 'in order') await place.takeInOrder()
        return result
      } finally {
        await place.exit(options.rests !== undefined)
      }
    } finally {
      active.delete(name)
    }
  }

  // The result was recorded by the step with this name, so it has the type of this step's work.
  // Work that returns nothing returns undefined.
  // biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing
  return async <T extends Json | undefined | void>(
    name: string,
    work: (attempt: Pick<Attempt, 'signal'>) => Promise<T>,
    options: StepOptions = {},
  ): Promise<T> => {
    run.lease.life.throwIfAborted()
    return (await take({ name, work: work as Named['work'], options })) as T
  }
}

async function refuseCanceled(run: Run, name: string, options: StepOptions): Promise<void> {
  if (!run.lease.isCanceled || options.evenIfCanceled) return
  if (!(await persist(run, run.lease, () => steps.skip(run.database, run.lease, name)))) throw run.lease.lose(taken)
  throw new CanceledError('canceled')
}

async function attempt(run: Run, step: Named, isProgress: boolean): Promise<Json | undefined> {
  const { database, lease, clock } = run
  const startedAt = clock.monotonic()
  const seconds = await persist(run, lease, () => steps.begin(database, lease, step.name))
  if (seconds === undefined) throw lease.lose(taken)
  try {
    const text = steps.formatResult(await perform(run, step, seconds))
    const held = await persist(run, lease, () =>
      steps.succeed(database, lease, { name: step.name, result: text, isProgress }),
    )
    if (!held) throw lease.lose(taken)
    run.holds.forget(lease.id)
    const ms = Math.round(clock.monotonic() - startedAt)
    run.log.debug({ workflow: lease.id, step: step.name, ms }, 'step finished')
    return steps.parseResult(text)
  } catch (error) {
    // The step caused neither the loss nor the stop. The next holder of the workflow runs it again.
    lease.life.throwIfAborted()
    await recordFailure(run, step.name, error)
    throw error
  }
}

function perform(run: Run, { name, work, options }: Named, seconds: number): Promise<Json | undefined> {
  const deadlineSeconds = options.deadlineSeconds ?? defaultDeadlineSeconds
  return workUntil(run, work, {
    signal: options.evenIfCanceled ? run.lease.life : run.lease.work,
    remainingMs: (deadlineSeconds - seconds) * 1000,
    late: () => new StepTimeoutError(`step "${name}" did not end within ${deadlineSeconds} s`),
  })
}

async function recordFailure(run: Run, name: string, error: unknown): Promise<void> {
  const status = error instanceof CanceledError ? 'CANCEL' : 'ERROR'
  const text = storable(messageOf(error))
  const held = await persist(run, run.lease, () => steps.fail(run.database, run.lease, { name, status, error: text }))
  if (!held) throw run.lease.lose(taken)
}

const taken = 'another process took it over'

/**
 * A text column accepts neither NUL nor an unpaired surrogate. Whole build logs do not belong
 * there.
 */
export const storable = (text: string): string => text.slice(0, longestText).replaceAll('\0', '').toWellFormed()
