import type { Duplex } from 'node:stream'

/** A command to run in a terminal. */
export interface ShellWish {
  /** Absent: the newest running replica. */
  readonly replica?: string
  /** A container of a pod of a chart. Absent: its first one. */
  readonly container?: string
  readonly command: readonly string[]
  /** Both 0: without a terminal. */
  readonly columns: number
  readonly rows: number
}

/**
 * A running command: writes go to its input, reads return its output. The stream ends when the
 * command does.
 */
export interface Terminal {
  readonly stream: Duplex
  resize(columns: number, rows: number): Promise<void>
  /** Returns the command's exit code after `stream` has ended; undefined if it is unknown. */
  exitCode(): Promise<number | undefined>
}
