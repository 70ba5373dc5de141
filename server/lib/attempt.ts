/** Receives the output of a running step. Users read the lines in the deployment log. */
export interface LineSink {
  line(text: string, level?: 'info' | 'warning' | 'error'): void
}

/** One attempt at a step: its abort signal and its output. */
export interface Attempt {
  readonly signal: AbortSignal
  readonly output: LineSink
}

export const silent: LineSink = { line: () => {} }
