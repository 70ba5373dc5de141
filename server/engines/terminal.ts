import type { Duplex } from 'node:stream'

/** What is to be run in a terminal. */
export interface ShellWish {
  /** Absent: the newest replica that runs. */
  readonly replica?: string
  readonly command: readonly string[]
  /** Both 0: without a terminal. */
  readonly columns: number
  readonly rows: number
}

/** A command that runs: what is written goes in, what it prints comes out; it ends when the command does. */
export interface Terminal {
  readonly stream: Duplex
  resize(columns: number, rows: number): Promise<void>
  /** Returns the command's exit code after `stream` has ended; undefined if it is unknown. */
  exitCode(): Promise<number | undefined>
}
