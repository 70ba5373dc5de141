import type { LogLine, LogQuery } from '../log-line.ts'

/** Reads the output of replicas. */
export interface LogSource {
  /**
   * Returns the lines of all replicas in order of time, then new lines as they come if `follow` is
   * set. Ends when the signal is aborted.
   */
  logs(service: string, query: LogQuery, signal: AbortSignal): AsyncIterable<LogLine>
}
