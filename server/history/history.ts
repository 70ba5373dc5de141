import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { State } from '@quayside/contract/states.ts'
import type { Database } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import type { CommitJson } from '../releases/index.ts'
import { statusDetails } from '../requests/index.ts'
import { commitPage, repositoriesOf, type Settings } from '../services/index.ts'
import { historyDetails } from './deployed-details.ts'
import { findTargetOf, type HistoryRow, listHistory, type WithRun, type WithSettings } from './history-store.ts'

const longestPage = 20

export interface HistoryPage {
  /** At most 20, which is also the default. */
  readonly pageSize?: number
  /** The execution of the deployment after which the page begins, or its request. */
  readonly startId?: string
}

/** Lists deployments of a service, newest first. Throws 404 if it had no deployment `startId`. */
export async function serviceHistory(database: Database, serviceId: string, { pageSize, startId }: HistoryPage) {
  const page_size = Math.min(pageSize ?? longestPage, longestPage)
  const behind = startId === undefined ? undefined : await findTargetOf(database, startId, serviceId)
  if (startId !== undefined && behind === undefined) throw notFound('deployment', startId, { field: 'startId' })
  const rows = await listHistory(database, serviceId, { count: page_size, behind })
  return { page: 1, page_size, results: rows.map(toEntry) }
}

export function toEntry(row: HistoryRow & WithSettings & WithRun) {
  const { name, service_id, execution_id, triggered_by, origin, created_at, updated_at, icon_uri, reason } = row
  return {
    identifier: { name, service_id, service_type: serviceTypeOf(row.kind), execution_id },
    status: row.state satisfies State,
    auditing_data: { created_at, updated_at, triggered_by, origin },
    details: {
      commit: row.commit && toCommit(row.commit, row),
      build_pod_name: null,
      ...historyDetails(row.settings),
      ...(row.values_commit && { values_commit_id: row.values_commit }),
    },
    status_details: statusDetails(row),
    icon_uri,
    total_duration: row.finished_at
      ? toDuration(row.finished_at.getTime() - (row.started_at ?? row.finished_at).getTime())
      : null,
    reason,
    stack_run: row.stack_run,
  }
}

/** `origin` is the deployed service. Its repository gives the address of the commit's page. */
export function toCommit(
  { id, created_at, message, author_name, tag = '' }: CommitJson,
  { kind, settings }: Pick<HistoryRow, 'kind'> & { readonly settings: object | null },
) {
  // The settings of a release were checked when they were stored.
  const [source] = settings ? repositoriesOf(kind, settings as Settings) : []
  const commit_page_url = source && commitPage(source.repository, id)
  return {
    created_at: new Date(created_at),
    git_commit_id: id,
    tag,
    message,
    author_name,
    ...(commit_page_url && { commit_page_url }),
  }
}

/** Returns an ISO 8601 duration in whole seconds, such as `PT1M5S`. */
export function toDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  const text = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${rest ? `${rest}S` : ''}`
  return `PT${text || '0S'}`
}
