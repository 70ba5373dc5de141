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
 * Returns the statuses of an environment and its services by stage, with the effect of the last
 * deployment on each stage.
 */
export async function statusesWithStages(database: Database, environmentId: string, stages: readonly Stage[]) {
  const { rows, last, active } = await readEnvironment(database, environmentId)
  const environment = toEnvironmentStatus(environmentId, rows, last, active)
  return { environment, stages: stages.map((stage) => toStage(stage, rows, last)) }
}

/**
 * Returns the statuses as one execution left them, or as it has changed them so far: today's
 * services with the states it brought them to, and unaffected services. Throws AppError `invalid`
 * if the environment had no execution with that id.
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
 * Pure: returns a stage with the statuses of its services and the effect of the environment's last
 * deployment.
 */
export function toStage({ id, name, description }: Stage, all: readonly StatusRow[], last: LastRequest | undefined) {
  const rows = all.filter((row) => row.stage_id === id)
  return { ...toStatuses(rows), stage: { id, name, description, ...describe(id, rows, last) } }
}

/** A stage has no status if the last deployment did not affect it. */
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

/** Returns the steps of a stage: queueing, the builder (always skipped) and the total. */
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
