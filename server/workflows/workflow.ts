import type { Attempt } from '../lib/attempt.ts'
import type { Json } from '../lib/json.ts'

/**
 * Durable work on PostgreSQL. A workflow is a function of named steps. An ended step never runs
 * again: its recorded result is returned instead. A step may run twice if the process dies between
 * its effect and the record, so it looks for the effect first. At most one workflow per key runs at
 * any moment, over all processes. Others wait in order.
 */
export interface Workflow<Input extends Json = Json> {
  readonly name: string
  /** Returns or throws. A throw other than the loss of the lease ends the workflow as failed. */
  run(input: Input, step: Step, context: RunContext): Promise<void>
  /**
   * Writes the domain's terminal state after the workflow threw or was parked. `sql` is the
   * transaction that ends the workflow. If it throws repeatedly, the workflow ends without that
   * state, and it is called again later for every id in `unfinished`.
   */
  abandoned(input: Input, reason: string, sql: import('../database/database.ts').Sql): Promise<void>
  /** The ids of workflows without a terminal state in the domain, as a `select` of one column. */
  unfinished?(sql: import('../database/database.ts').Sql): import('../database/database.ts').Fragment
  /**
   * The ids of waiting workflows that must not begin yet, as a `select` of one column. Later
   * workflows with the same key wait too. It runs at each claim, so it must be cheap if nothing is
   * held back.
   */
  heldBack?(sql: import('../database/database.ts').Sql): import('../database/database.ts').Fragment
}

export interface RunContext {
  readonly id: string
  /**
   * Aborted with CanceledError if the workflow is cancelled, with LeaseLostError if another process
   * owns it.
   */
  readonly signal: AbortSignal
  /**
   * Runs a transaction for the workflow's own writes. It fails with LeaseLostError if the lease is
   * lost.
   */
  fenced<T>(work: (sql: import('../database/database.ts').Sql) => Promise<T>): Promise<T>
}

export interface StepOptions {
  /**
   * Counted from the first start of this step, across restarts. Default 600 s. Aborts the attempt's
   * signal with StepTimeoutError.
   */
  readonly deadlineSeconds?: number
  /** Runs also after the workflow was cancelled: for clean-up and for writing the end. */
  readonly evenIfCanceled?: boolean
  /**
   * The step mostly waits. While a workflow is in no other step, it leaves its place to others.
   * With `in order` it waits for a place again after a success, before the step returns. With
   * `at once`, and after a failure or a cancel, its next step begins even if all places are taken.
   */
  readonly rests?: 'in order' | 'at once'
}

/**
 * Runs `work` unless its result is recorded. Steps with different names may run at the same time.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing
export type Step = <T extends Json | undefined | void>(
  name: string,
  work: (attempt: Pick<Attempt, 'signal'>) => Promise<T>,
  options?: StepOptions,
) => Promise<T>

export class CanceledError extends Error {
  override readonly name = 'CanceledError'
}
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError'
}
