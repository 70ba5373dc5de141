import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { runningStates } from '@quayside/contract/running-states.ts'
import type { ReplicaRow, RunningRow } from './running-store.ts'

/** Pure: a replica of a service as a pod with one container. */
export function toPod(replica: ReplicaRow, service: Pick<RunningRow, 'observed_state' | 'reason' | 'release_id'>) {
  const { name, running, exits, image = '' } = replica
  const { observed_state, reason, release_id } = service
  const started_at = replica.startedAt === undefined ? null : Date.parse(replica.startedAt)
  const state = running && observed_state !== 'failing' ? runningStates.running : podState(exits)
  const isWell = state === 'RUNNING' && observed_state !== 'warning'
  const told = {
    state_reason: state === 'RUNNING' ? (isWell ? '' : 'Unreachable') : wordFor(replica),
    state_message: isWell ? '' : (reason ?? ''),
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

const podState = (exits: number): RunningState => (exits > 0 ? 'ERROR' : 'STARTING')

/** Why it does not run, in the words that clients know. */
function wordFor({ exits, exitCode, outOfMemory }: Pick<ReplicaRow, 'exits' | 'exitCode' | 'outOfMemory'>): string {
  if (exitCode !== undefined) return endWord(exitCode, outOfMemory)
  return exits > 0 ? 'CrashLoopBackOff' : ''
}

const endWord = (exitCode: number, outOfMemory: boolean): string =>
  outOfMemory ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error'

/** An engine knows how a program ended only until it is started again. */
function lastEnd({ exitCode, outOfMemory, startedAt, finishedAt }: ReplicaRow) {
  if (exitCode === undefined || finishedAt === undefined) return {}
  const last_terminated_state = {
    exit_code: exitCode,
    exit_code_message: outOfMemory ? 'ran out of memory' : `exited with code ${exitCode}`,
    reason: endWord(exitCode, outOfMemory),
    message: '',
    signal: exitCode > 128 ? exitCode - 128 : 0,
    started_at: Date.parse(startedAt ?? finishedAt),
    finished_at: Date.parse(finishedAt),
  }
  return { last_terminated_state }
}
