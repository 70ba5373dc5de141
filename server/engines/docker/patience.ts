import { EngineError, type LongRunning, type Probe } from '../engine.ts'
import type { ReplicaState } from './replica-state.ts'

/** Without a port and without a probe, running that long counts as healthy. */
export const settleMs = 3_000
/** Between two commands inside a replica. */
export const leastCommandPauseMs = 250
const allowedExits = 3

/**
 * How long to wait until a replica is asked again. Short at first, then 5 % of what has passed, so
 * that health is seen late by no more than that; a port that nobody listens on costs the program
 * nothing and is tried twice as often, at least ten times a second. `leastMs`: a command inside the
 * replica takes away from what that may use.
 */
export function pauseMs(elapsedMs: number, periodMs: number, silent: boolean, leastMs = 15): number {
  if (silent) return Math.max(15, Math.min(elapsedMs / 40, 100))
  return Math.max(leastMs, Math.min(elapsedMs / 20, periodMs))
}

/**
 * How often a starting container is looked at while the daemon does not tell what happens to it.
 * Docker waits 100 ms and longer before it starts again what has exited, and then takes its time:
 * the exit is seen.
 */
export const inspectPauseMs = (elapsedMs: number): number => Math.max(100, Math.min(elapsedMs / 20, 250))

/**
 * The probe by which a replica counts as ready. None given: its first port takes a connection;
 * undefined: nothing to ask. `initialDelaySeconds` is patience, never a wait: a success before it
 * counts, and no number of failures ends a start before its deadline.
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
 * Whether waiting on has lost its sense. `exitsBefore` are those that a container that is up now
 * had behind it when we came. Running out of memory once is enough: the same program with the same
 * limit does it again. An engine says of the last end only whether that was it.
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

/** The codes by which docker-init and shells say that there was nothing to run. */
function hintOf(exitCode: number | undefined): string {
  if (exitCode === 127) return ' (the program was not found: check entrypoint and arguments)'
  return exitCode === 126 ? ' (the program may not be executed: check its mode and platform)' : ''
}

/** The error of a replica; what it printed last stands beside the message, not in it. */
export function replicaError(
  reason: 'crashed' | 'out-of-memory' | 'not-ready',
  message: string,
  lines: readonly string[],
): EngineError {
  const whole = lines.length === 0 ? `${message}; it printed nothing` : message
  return new EngineError(reason, whole, { lastLines: lines })
}
