/** Keeps a property true without any input. Safe to run at any moment. */
export interface Reconciler {
  readonly name: string
  /** Milliseconds between two runs. */
  readonly everyMs: number
  reconcile(signal: AbortSignal): Promise<void>
}
