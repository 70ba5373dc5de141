import { type ServiceStep, serviceSteps } from '@quayside/contract/enums.ts'
import { serviceActionOf, subActionOf } from '@quayside/contract/services/stack-terms.ts'
import type { StackAction } from '@quayside/contract/services/terraform.ts'
import {
  type Action,
  environmentState,
  isAtRest,
  isFailed,
  type State,
  specificationState,
} from '@quayside/contract/states.ts'
import type { Database, Sql } from '../database/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { listsOfKinds } from './lists-of-kinds.ts'
import { findLastRequest, type RequestProgress } from './progress-store.ts'
import type { AcceptedRequest } from './request.ts'
import { requestState } from './request-state.ts'
import { listActiveRequests, type RequestRow } from './request-store.ts'
import { readStatuses, type StatusRow, type StepRow } from './status-store.ts'

/** The values of `state` that a client knows: all of the API, or the three of the specification. */
export type Dialect = 'full' | 'specification'

/** Returns the status of one service; undefined if it is gone. */
export async function serviceStatus(sql: Sql, serviceId: string) {
  const [status] = await serviceStatuses(sql, [serviceId])
  return status
}

/** Returns the status of one service in the client's dialect. */
export async function statusForClient(sql: Sql, serviceId: string, dialect: Dialect) {
  const [row] = await readStatuses(sql, { serviceIds: [serviceId] })
  if (!row) return undefined
  return dialect === 'full' ? toStatus(row) : toShortStatus(row)
}

/** Returns the status of each of these services, with one query. */
export async function serviceStatuses(sql: Sql, serviceIds: readonly string[]) {
  return (await readStatuses(sql, { serviceIds })).map(toStatus)
}

/**
 * Returns the status that `serviceStatus` would read just after acceptance, without a query.
 * Undefined if it depends on waiting requests.
 */
export function acceptedStatus(
  service: ServiceRow,
  { action, stackAction }: { readonly action: Action; readonly stackAction?: StackAction | undefined },
  { id, alone }: AcceptedRequest,
) {
  const state = alone?.states.get(service.id)
  if (!alone || !state) return undefined
  const in_copy = service.copying !== null
  const request = { request_id: id, execution_id: alone.execution_id, action, requests_count: 1, in_copy }
  const waits = { request_status: 'QUEUED', target_status: 'QUEUED' } as const
  const progress = { ...waits, stack_action: stackAction ?? null, reason: null, steps: null }
  const observed = {
    started_at: null,
    finished_at: null,
    is_part_last_deployment: true,
    observed_state: null,
    observed_reason: null,
    stop_reason: null,
    drifted_at: service.drifted_at,
  }
  return toStatus({ ...service, state, ...request, ...progress, ...observed })
}

/** Returns the status of an environment and of each of its services. */
export async function environmentStatuses(database: Database, environmentId: string) {
  const { rows, last, active } = await readEnvironment(database, environmentId)
  return { environment: toEnvironmentStatus(environmentId, rows, last, active), ...toStatuses(rows) }
}

/** Reads the data for the statuses of an environment. */
export async function readEnvironment(database: Database, environmentId: string) {
  const [rows, last, active] = await Promise.all([
    readStatuses(database, { environmentId }),
    findLastRequest(database, environmentId),
    listActiveRequests(database, environmentId),
  ])
  return { rows, last, active }
}

/** Returns a list of statuses for each kind. */
export function toStatuses(rows: readonly StatusRow[]) {
  const ofKind = Map.groupBy(rows, ({ kind }) => kind)
  return listsOfKinds((kind) => (ofKind.get(kind) ?? []).map(toStatus))
}

const isUp = ({ state }: StatusRow): boolean => state === 'DEPLOYED' || state === 'RESTARTED'

/** Pure: whether a deployed service crashes repeatedly or is gone. */
const isFailingNow = (row: StatusRow): boolean =>
  isUp(row) && (row.observed_state === 'failing' || row.observed_state === 'absent')

/** Pure: converts a row to the API's Status for pollers of the specification (ADR 0003). */
export const toShortStatus = (row: StatusRow) => ({
  ...toStatus(row),
  state: specificationState(row.state, isFailingNow(row)),
})

/** Pure: converts a row to the API's Status. */
export function toStatus(row: StatusRow) {
  const ended =
    row.request_status !== 'QUEUED' && row.request_status !== 'ONGOING' && row.request_status !== 'CANCELING'
  const steps = toMetrics(row.steps ?? [], ended)
  return {
    id: row.id,
    state: row.state,
    service_deployment_status: deploymentStatus(row),
    last_deployment_date: row.last_deployment_date,
    is_part_last_deployment: row.is_part_last_deployment,
    ...(row.request_id ? { steps } : {}),
    ...(row.execution_id ? { execution_id: row.execution_id } : {}),
    status_details: statusDetails({ ...row, status: row.target_status }),
    deployment_request_id: ended ? null : row.request_id,
    deployment_requests_count: row.requests_count,
    reason: statusReason(row, isFailingNow(row)),
  }
}

/** Returns the reason. Never empty for a failed service; old rows may lack one. */
function statusReason(row: StatusRow, isFailing: boolean): string | null {
  const reason = row.reason?.trim() ? row.reason : undefined
  if (row.stop_reason !== null && isAtRest(row.state)) {
    return reason === undefined ? row.stop_reason : `${reason}\n${row.stop_reason}`
  }
  if (reason !== undefined) return reason
  if (row.in_copy && row.request_status === 'QUEUED') return 'It waits until the data are copied.'
  if (isUp(row) && row.observed_state === 'warning') return row.observed_reason
  if (isFailing) return row.observed_reason?.trim() ? row.observed_reason : 'It does not run. See its log.'
  return isFailed(row.state) ? 'It failed, and no reason was recorded. See the log of the deployment.' : null
}

/** Returns the action and result of the last request; UNKNOWN and NEVER before the first. */
export function statusDetails({
  kind,
  action,
  status,
  stack_action,
}: Pick<StatusRow, 'kind' | 'action' | 'stack_action'> & { readonly status: StatusRow['target_status'] }) {
  if (!action || !status) return { action: 'UNKNOWN' as const, status: 'NEVER' as const, sub_action: 'NONE' as const }
  return {
    action: serviceActionOf(action),
    status: status === 'SKIPPED' ? ('CANCELED' as const) : status,
    sub_action: subActionOf(kind, action, stack_action),
  }
}

/** Whether a deployment would change the service: it was edited, or changed from outside. */
function deploymentStatus(row: Pick<StatusRow, 'config_version' | 'deployed_config_version' | 'drifted_at'>) {
  if (row.deployed_config_version === null) return 'NEVER_DEPLOYED' as const
  const isSame = row.deployed_config_version === row.config_version && row.drifted_at === null
  return isSame ? ('UP_TO_DATE' as const) : ('OUT_OF_DATE' as const)
}

const isApiStep = (name: string): name is ServiceStep => serviceSteps.some((step) => step === name)

function toMetrics(rows: readonly StepRow[], ended: boolean) {
  const details = rows.flatMap(({ name, status, seconds }) =>
    isApiStep(name) && status !== null ? [{ step_name: name, status, duration_sec: seconds ?? 0 }] : [],
  )
  const sum = (of: typeof details): number => of.reduce((total, step) => total + step.duration_sec, 0)
  const computing = details.filter(({ step_name }) => !step_name.endsWith('_QUEUEING'))
  return { total_duration_sec: ended ? sum(details) : null, total_computing_duration_sec: sum(computing), details }
}

/** The newest request, as the status of an environment needs it. */
export type LastRequest = RequestProgress &
  Pick<RequestRow, 'action' | 'status' | 'created_at' | 'finished_at' | 'execution_id' | 'origin' | 'triggered_by'>

/**
 * Pure: returns the status of an environment from its services, its newest request, and its active
 * requests. `state` aggregates all services. `last_deployment_state` is the state of that request
 * alone, so a service outside the request does not mislead a client that waits for it.
 */
export function toEnvironmentStatus(
  id: string,
  rows: readonly Pick<StatusRow, 'state' | 'config_version' | 'deployed_config_version' | 'drifted_at'>[],
  last: LastRequest | undefined,
  active: readonly Pick<RequestRow, 'id'>[],
) {
  const state = environmentState(rows.map((row) => row.state))
  const statuses = rows.map(deploymentStatus)
  const seconds = last?.finished_at ? Math.round((last.finished_at.getTime() - last.created_at.getTime()) / 1000) : null
  return {
    id,
    state,
    last_deployment_date: last?.finished_at ?? last?.created_at ?? null,
    last_deployment_state: last ? requestState(last, last.targets) : ('READY' satisfies State),
    last_deployment_id: last?.execution_id ?? null,
    total_deployment_duration_in_seconds: seconds,
    origin: last?.origin ?? null,
    triggered_by: last?.triggered_by ?? null,
    deployment_status: environmentDeploymentStatus(statuses),
    deployment_request_id: active[0]?.id ?? null,
  }
}

function environmentDeploymentStatus(statuses: readonly ReturnType<typeof deploymentStatus>[]) {
  if (statuses.every((status) => status === 'NEVER_DEPLOYED')) return 'NEVER_DEPLOYED' as const
  return statuses.every((status) => status === 'UP_TO_DATE') ? ('UP_TO_DATE' as const) : ('OUT_OF_DATE' as const)
}
