import { EngineError } from './engine-error.ts'
import { manyExits, type Replica } from './observation.ts'
import type { LongRunning, Probe } from './workload.ts'

/** A replica without port and probe is healthy after it has run this long. */
export const settleMs = 3_000
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
  state: Pick<Replica, 'running' | 'exits' | 'outOfMemory'> & { readonly exitCode?: number | undefined },
  memory: { readonly exitsBefore: number; readonly exitCode: number | undefined; readonly memoryMiB: number },
): { reason: 'crashed' | 'out-of-memory'; message: string } | undefined {
  if (state.outOfMemory && (!state.running || state.exits > memory.exitsBefore)) {
    return {
      reason: 'out-of-memory',
      message: `ran out of memory (${memory.memoryMiB} MiB); give it more memory or make it use less`,
    }
  }
  const isNew = !state.running || state.exits > memory.exitsBefore
  if (state.exits < manyExits || !isNew) return undefined
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

/**
 * Returns the time that a start has left. The deadline counts from the release's first start. A
 * later call still gets some time to check a healthy release.
 */
export function leftMs({ startDeadlineSeconds }: Pick<LongRunning, 'startDeadlineSeconds'>, ageMs: number): number {
  const deadlineMs = startDeadlineSeconds * 1000
  return Math.min(deadlineMs, Math.max(deadlineMs - ageMs, 5_000))
}
