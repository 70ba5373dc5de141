import { triggerActionOf } from '@quayside/contract/services/stack-terms.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { type AppError, notFound } from '../lib/error.ts'
import { listsOfKinds, type RequestRow, requestState, type TargetRow } from '../requests/index.ts'
import { deployedDetails } from './deployed-details.ts'
import {
  findRequestOf,
  isRequestOf,
  isTargetOf,
  listRequests,
  listServiceTargets,
  listTargetsWithSettings,
} from './environment-history-store.ts'
import { type HistoryPage, toCommit, toDuration, toEntry } from './history.ts'
import type { HistoryRow, WithRun, WithSettings } from './history-store.ts'
import { stageStatus, toStageStatus } from './stage-status.ts'

const longestPage = 20

/**
 * Lists deployments of an environment by stage, newest first. Throws 404 if the environment had no
 * deployment with the execution `startId`.
 */
export async function environmentHistory(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  environmentId: string,
  { pageSize, startId }: HistoryPage,
) {
  const page_size = Math.min(pageSize ?? longestPage, longestPage)
  const behind = startId === undefined ? undefined : await findRequestOf(database, startId, environmentId)
  if (startId !== undefined && behind === undefined) throw noStart(startId)
  const [requests, targetsOf] = await readPage(database, environmentId, { count: page_size, behind })
  const now = clock.now()
  const results = requests.map((request) => {
    const { execution_id, created_at, updated_at, triggered_by, origin } = request
    const targets = targetsOf(request)
    return {
      identifier: { execution_id, environment_id: environmentId },
      auditing_data: { created_at, updated_at, triggered_by, origin },
      status: requestState(request, targets),
      trigger_action: triggerActionOf(request.action, targets),
      action_status: request.status,
      total_duration: toDuration((request.finished_at ?? now).getTime() - created_at.getTime()),
      stages: toStages(request, targets, now),
    }
  })
  return { page: 1, page_size, results }
}

/**
 * Lists them in the older format, which can start after any deployment. Throws 404 if the
 * environment had no deployment with that id.
 */
export async function environmentHistoryV1(database: Database, environmentId: string, behind: string | undefined) {
  if (behind !== undefined && !(await isRequestOf(database, behind, environmentId))) throw noStart(behind)
  const [requests, targetsOf] = await readPage(database, environmentId, { count: longestPage, behind })
  const results = requests.map((request) => {
    const { id, action, created_at, updated_at, origin, triggered_by } = request
    const targets = targetsOf(request)
    const entries = targets.map((target) => ({
      kind: target.kind,
      entry: toV1({ ...target, action, created_at, updated_at }),
    }))
    const of = (kind: string) => entries.filter((one) => one.kind === kind).map(({ entry }) => entry)
    const status = requestState(request, targets)
    return { id, created_at, updated_at, status, origin, triggered_by, ...listsOfKinds(of) }
  })
  return { page: 1, page_size: longestPage, results }
}

/** Lists the deployments of one service in the older format. */
export async function serviceHistoryV1(database: Database, serviceId: string, behind: string | undefined) {
  const rows = await readServicePage(database, serviceId, behind)
  return { page: 1, page_size: longestPage, results: rows.map(toV1) }
}

/** Adds one of two words for the outcome of each deployment. An unfinished one has none. */
export async function serviceHistoryBrief(database: Database, serviceId: string, behind: string | undefined) {
  const rows = await readServicePage(database, serviceId, behind)
  const results = rows.map((row) => {
    const { status: _, ...entry } = toV1(row)
    return { ...entry, ...(row.finished_at && { status: outcome(row) }) }
  })
  return { page: 1, page_size: longestPage, results }
}

async function readServicePage(database: Database, serviceId: string, behind: string | undefined) {
  if (behind !== undefined && !(await isTargetOf(database, behind, serviceId))) throw noStart(behind)
  return listServiceTargets(database, serviceId, behind)
}

const outcome = ({ status }: Pick<TargetRow, 'status'>) =>
  status === 'SUCCESS' ? ('SUCCESS' as const) : ('FAILED' as const)

const noStart = (id: string): AppError => notFound('deployment', id, { field: 'startId' })

async function readPage(
  database: Database,
  environmentId: string,
  place: { readonly count: number; readonly behind?: string | undefined },
) {
  const requests = await listRequests(database, environmentId, place)
  const ids = requests.map(({ id }) => id)
  const targets = Map.groupBy(await listTargetsWithSettings(database, ids), (target) => target.request_id)
  return [requests, (request: RequestRow) => targets.get(request.id) ?? []] as const
}

type Target = TargetRow & WithSettings & WithRun

function toStages(request: RequestRow, targets: readonly Target[], now: Date) {
  return [...Map.groupBy(targets, (target) => target.stage_order)].map(([, members]) => ({
    name: members[0]?.stage_name ?? '',
    status: stageStatus(members.map(({ status }) => toStageStatus(status))),
    duration: toDuration(stageMs(members, now)),
    services: members.map((target) => {
      const { execution_id, action, origin, triggered_by, created_at, updated_at } = request
      return toEntry({ ...target, execution_id, action, origin, triggered_by, created_at, updated_at })
    }),
  }))
}

/** Returns the time from the first start to the last end. 0 while nothing has started. */
function stageMs(members: readonly Target[], now: Date): number {
  const begun = members.filter((target) => target.started_at !== null)
  if (begun.length === 0) return 0
  const from = Math.min(...begun.map(({ started_at }) => (started_at ?? now).getTime()))
  return Math.max(...begun.map(({ finished_at }) => (finished_at ?? now).getTime())) - from
}

function toV1(target: TargetRow & WithSettings & Pick<HistoryRow, 'action' | 'created_at' | 'updated_at'>) {
  const { request_id: id, created_at, updated_at, name, state: status, commit } = target
  const details = deployedDetails(target)
  return { id, created_at, updated_at, name, status, commit: commit && toCommit(commit, target), ...details }
}
