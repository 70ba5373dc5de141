import type { Database } from '../database/index.ts'
import {
  findExecution,
  type RequestRow,
  readEnvironment,
  readStatuses,
  type StatusRow,
  toEnvironmentStatus,
  toStatuses,
} from '../requests/index.ts'
import { noExecution } from './environment-log.ts'
import { type StageStatus, stageStatus, toStageStatus } from './stage-status.ts'

export interface Stage {
  readonly id: string
  readonly name: string
  readonly description: string
}

/**
 * The statuses of an environment and of its services by stages, with what the last deployment did
 * to each stage.
 */
export async function statusesWithStages(database: Database, environmentId: string, stages: readonly Stage[]) {
  const { rows, last, active } = await readEnvironment(database, environmentId)
  const environment = toEnvironmentStatus(environmentId, rows, last, active)
  return { environment, stages: stages.map((stage) => toStage(stage, rows, last)) }
}

/**
 * The same as one execution has left them, or leaves them just now: the services of today with the
 * states to which it brought them, and those that it did not concern. Throws AppError `invalid`
 * where the environment had none of that id.
 */
export async function statusesOfExecution(
  database: Database,
  environmentId: string,
  stages: readonly Stage[],
  version: string,
) {
  const request = await findExecution(database, environmentId, version)
  if (!request) throw noExecution(version)
  const rows = await readStatuses(database, { environmentId, requestId: request.id })
  const environment = toEnvironmentStatus(environmentId, rows, request, request.finished_at ? [] : [request])
  const whole = { ...environment, state: environment.last_deployment_state }
  return { environment: whole, stages: stages.map((stage) => toStage(stage, rows, request)) }
}

type LastRequest = Pick<RequestRow, 'created_at'>

/**
 * Pure: a stage with the statuses of its services, and what the last deployment of the environment
 * did to it.
 */
export function toStage({ id, name, description }: Stage, all: readonly StatusRow[], last: LastRequest | undefined) {
  const rows = all.filter((row) => row.stage_id === id)
  return { ...toStatuses(rows), stage: { id, name, description, ...describe(id, rows, last) } }
}

/** A stage of which the last deployment had nothing has no status. */
function describe(id: string, rows: readonly StatusRow[], last: LastRequest | undefined) {
  const acted = rows.flatMap(({ is_part_last_deployment, target_status, started_at, finished_at }) =>
    is_part_last_deployment && target_status ? [{ status: toStageStatus(target_status), started_at, finished_at }] : [],
  )
  if (acted.length === 0 || !last) return { steps: { stage_id: id, total_duration_sec: null, details: [] } }
  const status = stageStatus(acted.map((one) => one.status))
  const begun = acted.flatMap(({ started_at }) => started_at?.getTime() ?? [])
  const ended = acted.flatMap(({ finished_at }) => finished_at?.getTime() ?? [])
  const isOver = ended.length === acted.length
  const from = begun.length > 0 ? Math.min(...begun) : undefined
  const total = isOver ? seconds(Math.max(...ended) - (from ?? Math.max(...ended))) : null
  const queueing = from === undefined ? undefined : seconds(from - last.created_at.getTime())
  return { status, steps: { stage_id: id, total_duration_sec: total, details: details(id, status, queueing, total) } }
}

const seconds = (ms: number): number => Math.max(0, Math.round(ms / 1000))

const ends: Partial<Record<StageStatus, 'SUCCESS' | 'ERROR' | 'CANCEL' | 'SKIP'>> = {
  DONE: 'SUCCESS',
  ERROR: 'ERROR',
  CANCELED: 'CANCEL',
  SKIPPED: 'SKIP',
}

/**
 * What it waited, for other requests and stages; that builders are not made for it; what it took.
 */
function details(stage_id: string, status: StageStatus, queueing: number | undefined, total: number | null) {
  const end = ends[status]
  return [
    ...(queueing === undefined
      ? []
      : [
          { stage_id, step_name: 'QUEUEING' as const, status: 'SUCCESS' as const, duration_sec: queueing },
          { stage_id, step_name: 'PROVISION_BUILDER' as const, status: 'SKIP' as const, duration_sec: 0 },
        ]),
    ...(end && total !== null ? [{ stage_id, step_name: 'TOTAL' as const, status: end, duration_sec: total }] : []),
  ]
}
