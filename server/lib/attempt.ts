/** Where a running step reports. Lines are what the user reads in the deployment log. */
export interface LineSink {
  line(text: string, level?: 'info' | 'warning' | 'error'): void
}

/** One try at one step: how it is stopped and where it reports. */
export interface Attempt {
  readonly signal: AbortSignal
  readonly output: LineSink
}

export const silent: LineSink = { line: () => {} }
