import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { runningStates } from '@quayside/contract/running-states.ts'
import type { ReplicaRow, RunningRow, RunRow } from './running-store.ts'

/** Describes a replica of a service as a pod with one container. */
export function toPod(replica: ReplicaRow, service: Pick<RunningRow, 'observed_state' | 'reason' | 'release_id'>) {
  const { name, running, exits, image = '' } = replica
  const { observed_state, reason, release_id } = service
  const started_at = momentOf(replica.startedAt)
  // A program that fails repeatedly also runs between two ends.
  const runs = running && (observed_state !== 'failing' || exits === 0)
  const state = runs ? runningStates.running : podState(exits)
  const isWell = state === 'RUNNING' && observed_state !== 'warning'
  const told = {
    state_reason: state === 'RUNNING' ? (isWell ? '' : 'Unreachable') : wordFor(replica),
    state_message: isWell ? '' : reason || (state === 'ERROR' ? endings(exits) : ''),
  }
  return {
    name,
    state,
    ...told,
    started_at,
    restart_count: exits,
    service_version: release_id ?? '',
    last_events: [],
    containers: [
      { name, image, restart_count: exits, current_state: { state, started_at, ...told }, ...lastEnd(replica) },
    ],
  }
}

/** Describes a run of a job as a pod with one container and the id of the run as its name. */
export function toRunPod(run: RunRow) {
  const { id: name, status, exit_code, reason } = run
  const [started_at, finished_at] = [momentOf(run.started_at), momentOf(run.finished_at)]
  const state = runStates[status]
  const told = {
    state_reason: state === 'RUNNING' ? '' : endWord(state === 'COMPLETED' ? 0 : 1, false),
    state_message: reason || (state === 'ERROR' ? 'The run failed.' : ''),
  }
  const restart_count = Math.max(0, run.tries - 1)
  const ended =
    exit_code === null || finished_at === null
      ? {}
      : { last_terminated_state: terminated(exit_code, false, started_at ?? finished_at, finished_at) }
  return {
    name,
    state,
    ...told,
    started_at,
    restart_count,
    service_version: run.release_id,
    last_events: [],
    containers: [
      { name, image: run.image ?? '', restart_count, current_state: { state, started_at, ...told }, ...ended },
    ],
  }
}

const endings = (exits: number): string => `It has ended ${exits === 1 ? 'once' : `${exits} times`}.`

const runStates = { RUNNING: 'RUNNING', SUCCESS: 'COMPLETED', ERROR: 'ERROR' } as const satisfies Record<
  RunRow['status'],
  RunningState
>

const momentOf = (text: string | null | undefined): number | null => (text == null ? null : Date.parse(text))

const podState = (exits: number): RunningState => (exits > 0 ? 'ERROR' : 'STARTING')

/** The reason why it does not run, in the words that clients know. */
function wordFor({ exits, exitCode, outOfMemory }: Pick<ReplicaRow, 'exits' | 'exitCode' | 'outOfMemory'>): string {
  if (exitCode !== undefined) return endWord(exitCode, outOfMemory)
  return exits > 0 ? 'CrashLoopBackOff' : ''
}

const endWord = (exitCode: number, outOfMemory: boolean): string =>
  outOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error'

/** An engine knows how a program ended only until it starts again. */
function lastEnd({ exitCode, outOfMemory, ...moments }: ReplicaRow) {
  const [startedAt, finishedAt] = [momentOf(moments.startedAt), momentOf(moments.finishedAt)]
  if (exitCode === undefined || finishedAt === null) return {}
  return { last_terminated_state: terminated(exitCode, outOfMemory, startedAt ?? finishedAt, finishedAt) }
}

const terminated = (exit_code: number, outOfMemory: boolean, started_at: number, finished_at: number) => ({
  exit_code,
  exit_code_message: outOfMemory ? 'ran out of memory' : `exited with code ${exit_code}`,
  reason: endWord(exit_code, outOfMemory),
  message: '',
  signal: exit_code > 128 ? exit_code - 128 : 0,
  started_at,
  finished_at,
})
