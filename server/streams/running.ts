import type { RunningState } from '@quayside/contract/resources/stream.ts'
import { statusLists } from '@quayside/contract/running-states.ts'
import { subActionOf } from '@quayside/contract/services/stack-terms.ts'
import { runningState } from '../state-changes/index.ts'
import { toPod, toRunPod } from './pods.ts'
import type { RunningRow } from './running-store.ts'

/** Describes what runs in environments, as `/service/status` sends it. */
export const toServiceStatus = (rows: readonly RunningRow[]) => ({
  environments: [...Map.groupBy(rows, (row) => row.environment_id)].map(([id, ofEnvironment]) => {
    const services = ofEnvironment.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]))
    const lists = kindNames.map((kind) => [
      statusLists[kind].list,
      services.filter((row) => row.kind === kind).map(toService),
    ])
    return {
      id,
      project_id: ofEnvironment[0]?.project_id ?? '',
      state: environmentRunningState(services.map(serviceRunningState)),
      ...Object.fromEntries(lists),
      argocd_apps: [],
      agentic_workflows: [],
    }
  }),
})

type Service = RunningRow & { readonly id: string }
/** The keys of the table, with their type, which Object.keys drops. */
const kindNames = Object.keys(statusLists) as RunningRow['kind'][]

const toService = (row: Service) => ({
  id: row.id,
  state: serviceRunningState(row),
  pods: podsOf(row),
  ...also(row)[statusLists[row.kind].has],
})

function podsOf(row: Service) {
  // Runs before a job was stopped do not count.
  const runs = runningState(row.observed_state) === 'STOPPED' ? [] : (row.runs ?? [])
  return [...(row.replicas ?? []).map((replica) => toPod(replica, row)), ...runs.map(toRunPod)]
}

const also = ({ kind, action, stack_action }: Service) => ({
  certificates: { certificates: [] },
  action: { triggered_action: { action: action ?? 'UNKNOWN', sub_action: subActionOf(kind, action, stack_action) } },
  nothing: {},
})

/** A service that is being ended counts as running until it has ended. */
export function serviceRunningState(row: Pick<RunningRow, 'state' | 'observed_state' | 'replicas'>): RunningState {
  const seen = runningState(row.observed_state)
  const isEnding = row.state === 'STOPPING' || row.state === 'DELETING'
  if (isEnding && seen !== 'STOPPED') return 'STOPPING'
  const replicas = row.replicas ?? []
  const isPartly =
    seen === 'ERROR' && replicas.some(({ running }) => running) && replicas.some(({ running }) => !running)
  return isPartly ? 'WARNING' : seen
}

/**
 * Computes the state of an environment from its services. Successful jobs do not count beside
 * running services.
 */
export function environmentRunningState(states: readonly RunningState[]): RunningState {
  for (const passing of ['STOPPING', 'STARTING'] as const) if (states.includes(passing)) return passing
  if (states.every((state) => state === 'STOPPED')) return 'STOPPED'
  if (states.every((state) => state === 'STOPPED' || state === 'COMPLETED')) return 'COMPLETED'
  const bad = states.filter((state) => state === 'ERROR')
  if (bad.length === states.length) return 'ERROR'
  return bad.length > 0 || states.includes('WARNING') ? 'WARNING' : 'RUNNING'
}
