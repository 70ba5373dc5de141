import { withOwner } from '../database/index.ts'
import type { Release, Task } from '../engines/index.ts'
import { messageOf } from '../lib/error.ts'
import { nobodyWaits } from '../lib/nobody-waits.ts'
import { readState, stateFilePath } from '../stacks/index.ts'
import type { Recipe, Work } from './recipe.ts'
import type { LoadedStack } from './stack-release.ts'

/** How often the state of a running apply is read. */
const everyMs = 2000
/** A state that is being written cannot be read at that moment. More failures are reported. */
const quietFailures = 5

/** An apply of a stack on its engine. */
export interface RunningApply {
  readonly stack: LoadedStack
  readonly release: Release<Task>
  readonly task: string
}

/**
 * Keeps the state that an apply has written so far, every two seconds, until `run` has ended. A
 * container that is lost then costs the last seconds of its state and not all of it.
 */
export async function whileKeepingState<T>(
  options: Pick<Recipe, 'clock' | 'engine' | 'stacks'>,
  work: Pick<Work, 'context' | 'report'>,
  apply: RunningApply,
  { signal, run }: { readonly signal: AbortSignal; readonly run: () => Promise<T> },
): Promise<T> {
  const done = new AbortController()
  const keeping = keepStates(options, work, apply, AbortSignal.any([signal, done.signal]))
  try {
    return await run()
  } finally {
    done.abort(nobodyWaits)
    await keeping
  }
}

/** Ends with its signal. */
async function keepStates(
  options: Pick<Recipe, 'clock' | 'engine' | 'stacks'>,
  work: Pick<Work, 'context' | 'report'>,
  apply: RunningApply,
  signal: AbortSignal,
): Promise<void> {
  let serial = -1
  for (let failures = 0; !signal.aborted; ) {
    try {
      await options.clock.sleep(everyMs, signal)
      serial = await keepState(options, work, { ...apply, serial }, signal)
      failures = 0
    } catch (error) {
      failures++
      if (signal.aborted || failures !== quietFailures) continue
      work.report.line(`The state that it has written so far cannot be kept: ${messageOf(error)}`, 'warning')
    }
  }
}

/** Keeps the state of an apply if it is newer than `serial`. Returns the serial that is kept. */
async function keepState(
  { engine, stacks }: Pick<Recipe, 'engine' | 'stacks'>,
  { context }: Pick<Work, 'context'>,
  { stack, release, task, serial }: RunningApply & { readonly serial: number },
  signal: AbortSignal,
): Promise<number> {
  const file = await engine.readTaskFile(release, task, stateFilePath, signal)
  // A state that is being written is not whole.
  const content = file?.content
  const state = content && (await withOwner(stack.owner.organizationId, () => readState(content)))
  if (!state || state.serial <= serial) return serial
  await context.fenced((sql) => stacks.keepSnapshot(sql, stack.owner, stack.run, state))
  return state.serial
}
