import type { Duplex } from 'node:stream'
import type { ShellWish, Terminal } from '../terminal.ts'

/** Reaches into running replicas. */
export interface Terminals {
  /** Runs a command in a running replica. Returns its exit code and both outputs, at most 64 kB. */
  exec(service: string, command: readonly string[], signal: AbortSignal): Promise<{ exitCode: number; output: string }>
  /**
   * Begins a command with its own terminal in a running replica, by argument list. The command ends
   * when the stream is closed or the signal aborted. Throws EngineError('refused') if there is no
   * such replica.
   */
  shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal>
  /**
   * Connects by TCP to any port of a replica. Throws EngineError('unreachable') if nothing listens
   * on it.
   */
  connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex>
}
