import type { Attempt } from '../lib/attempt.ts'
import type { Json } from '../lib/json.ts'

/**
 * Durable work on PostgreSQL. A workflow is a function made of named steps; a step that ended is never run again, its
 * recorded result is handed back instead. A step may run twice when the process dies between its effect and the record:
 * look for the effect first. At most one workflow per key runs at any moment, over all processes; others wait in order.
 */
export interface Workflow<Input extends Json = Json> {
  readonly name: string
  /** Ends normally or throws; a throw that is not the lease's loss ends the workflow as failed. */
  run(input: Input, step: Step, context: RunContext): Promise<void>
  /**
   * Called inside the transaction that ends a workflow which threw or was parked by the poison guard: writes the domain's
   * terminal state. `sql` is that transaction. Where it throws again and again the workflow ends without that state; what
   * `unfinished` still gives then is abandoned anew, later.
   */
  abandoned(input: Input, reason: string, sql: import('../database/database.ts').Sql): Promise<void>
  /** The ids of workflows whose terminal state is not written in the domain, as a `select` of one column. */
  unfinished?(sql: import('../database/database.ts').Sql): import('../database/database.ts').Fragment
  /**
   * The ids of waiting workflows that must not begin yet, as a `select` of one column. Workflows behind them with the same key wait,
   * too. Asked at each claim: it must be cheap if nothing is held back.
   */
  heldBack?(sql: import('../database/database.ts').Sql): import('../database/database.ts').Fragment
}

export interface RunContext {
  readonly id: string
  /** Aborted with CanceledError when the workflow is cancelled, with LeaseLostError when another process owns it now. */
  readonly signal: AbortSignal
  /** Writes of the workflow's own go through this: the transaction fails with LeaseLostError when the lease is lost. */
  fenced<T>(work: (sql: import('../database/database.ts').Sql) => Promise<T>): Promise<T>
}

export interface StepOptions {
  /** Counted from the first start of this step, over restarts. Default 600 s. The attempt's signal is aborted with StepTimeoutError. */
  readonly deadlineSeconds?: number
  /** Runs even after the workflow was cancelled: for clean-up and for writing the end. */
  readonly evenIfCanceled?: boolean
}

/** Runs `work` unless a result is recorded; steps with different names may run at the same time. */
// biome-ignore lint/suspicious/noConfusingVoidType: a step may give nothing
export type Step = <T extends Json | undefined | void>(
  name: string,
  work: (attempt: Pick<Attempt, 'signal'>) => Promise<T>,
  options?: StepOptions,
) => Promise<T>

/** Keeps something true without any input; safe to run at any moment. */
export interface Reconciler {
  readonly name: string
  readonly everyMs: number
  reconcile(signal: AbortSignal): Promise<void>
}

export class CanceledError extends Error {
  override readonly name = 'CanceledError'
}
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError'
}
