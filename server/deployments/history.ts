import type { Origin } from '@quayside/contract/enums.ts'
import type { Action, State } from '@quayside/contract/states.ts'
import type { Database, Sql } from '../database/index.ts'
import { statusDetails } from './status.ts'
import type { CommitJson, TargetRow } from './target-store.ts'

interface HistoryRow extends TargetRow {
  readonly execution_id: string
  readonly action: Action
  readonly origin: Origin
  readonly triggered_by: string
  readonly created_at: Date
  readonly updated_at: Date
}

const longestPage = 20

/** The last deployments of a service, newest first; at most 20, whatever is asked for. */
export async function serviceHistory(database: Database, serviceId: string, pageSize: number | undefined) {
  const page_size = Math.min(pageSize ?? longestPage, longestPage)
  const rows = await listHistory(database, serviceId, page_size)
  return { page: 1, page_size, results: rows.map(toEntry) }
}

const listHistory = (sql: Sql, serviceId: string, count: number) =>
  sql<HistoryRow[]>`
    select t.*, r.execution_id, r.action, r.origin, r.triggered_by, r.created_at, r.updated_at
    from (select * from deployment_target where service_id = ${serviceId} order by service_seq desc limit ${count}) t
    join deployment_request r on r.id = t.request_id order by t.service_seq desc`

function toEntry(row: HistoryRow) {
  const { name, service_id, execution_id, triggered_by, origin, created_at, updated_at, icon_uri, reason } = row
  return {
    identifier: { name, service_id, service_type: 'APPLICATION' as const, execution_id },
    status: row.state satisfies State,
    auditing_data: { created_at, updated_at, triggered_by, origin },
    details: { commit: row.commit && toCommit(row.commit), build_pod_name: null },
    status_details: statusDetails(row.action, row.status),
    icon_uri,
    total_duration: row.finished_at ? toDuration(row.finished_at.getTime() - created_at.getTime()) : null,
    reason,
  }
}

const toCommit = ({ id, created_at, message, author_name }: CommitJson) => ({
  created_at: new Date(created_at),
  git_commit_id: id,
  tag: '',
  message,
  author_name,
})

/** ISO 8601, in whole seconds: `PT1M5S`. */
export function toDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60), seconds % 60]
  const text = `${hours ? `${hours}H` : ''}${minutes ? `${minutes}M` : ''}${rest ? `${rest}S` : ''}`
  return `PT${text || '0S'}`
}
