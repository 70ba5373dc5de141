import { EngineError, type LongRunning, type Probe } from '../engine.ts'
import type { ReplicaState } from './replica-state.ts'

/** A replica without port and probe is healthy after it has run this long. */
export const settleMs = 3_000
/** The shortest pause between two commands inside a replica. */
export const leastCommandPauseMs = 250
const allowedExits = 3

/**
 * Returns the pause until the next check of a replica. It is short at first, then 5 % of the
 * elapsed time, so health is noticed at most 5 % late. A check of a silent port costs the program
 * nothing, so it is repeated twice as often and at least ten times a second. `leastMs` is longer
 * for a command, because it uses the replica's own resources.
 */
export function pauseMs(elapsedMs: number, periodMs: number, silent: boolean, leastMs = 15): number {
  if (silent) return Math.max(15, Math.min(elapsedMs / 40, 100))
  return Math.max(leastMs, Math.min(elapsedMs / 20, periodMs))
}

/**
 * Returns how often a starting container is inspected while the daemon sends no events. Docker
 * waits at least 100 ms before it restarts an exited container, so no exit is missed.
 */
export const inspectPauseMs = (elapsedMs: number): number => Math.max(100, Math.min(elapsedMs / 20, 250))

/**
 * Returns the probe that decides when a replica is ready. The default is a connection to its first
 * port. Undefined: there is nothing to check. `initialDelaySeconds` never delays a start: an
 * earlier success counts, and failures do not end a start before its deadline.
 */
export function readinessProbe(workload: Pick<LongRunning, 'probes' | 'ports'>): Probe | undefined {
  if (workload.probes.readiness) return workload.probes.readiness
  const port = workload.ports.find(({ protocol }) => protocol !== 'UDP')?.internalPort
  if (port === undefined) return undefined
  return {
    check: { type: 'tcp', port },
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 5,
    successThreshold: 1,
    failureThreshold: 1,
  }
}

/**
 * Returns why further waiting is pointless, if it is. `exitsBefore` counts the exits of a running
 * container before the wait began. One exit by lack of memory is enough, because the same program
 * with the same limit will run out again. An engine reports this for the last exit only.
 */
export function verdict(
  state: ReplicaState,
  memory: { readonly exitsBefore: number; readonly exitCode: number | undefined; readonly memoryMiB: number },
): { reason: 'crashed' | 'out-of-memory'; message: string } | undefined {
  if (state.outOfMemory && (!state.running || state.exits > memory.exitsBefore)) {
    return {
      reason: 'out-of-memory',
      message: `ran out of memory (${memory.memoryMiB} MiB); give it more memory or make it use less`,
    }
  }
  const isNew = !state.running || state.exits > memory.exitsBefore
  if (state.exits < allowedExits || !isNew) return undefined
  const code = state.exitCode ?? memory.exitCode
  return {
    reason: 'crashed',
    message:
      `exited${code === undefined ? '' : ` with code ${code}`} ${state.exits === 3 ? 'three' : state.exits} ` +
      `times${hintOf(code)}`,
  }
}

/** Explains the exit codes that docker-init and shells use when they could not run a program. */
function hintOf(exitCode: number | undefined): string {
  if (exitCode === 127) return ' (the program was not found: check entrypoint and arguments)'
  return exitCode === 126 ? ' (the program may not be executed: check its mode and platform)' : ''
}

/** Returns the error of a replica. Its last lines are separate from the message. */
export function replicaError(
  reason: 'crashed' | 'out-of-memory' | 'not-ready',
  message: string,
  lines: readonly string[],
): EngineError {
  const whole = lines.length === 0 ? `${message}; it printed nothing` : message
  return new EngineError(reason, whole, { lastLines: lines })
}
