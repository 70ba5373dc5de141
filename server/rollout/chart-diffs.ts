import { isChartKind } from '@quayside/contract/services/kinds.ts'
import type { Database, Sql } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import type { ServiceRow } from '../services/index.ts'
import { type DiffRow, findDiff, listDiffs, listLastDiffs, type WholeDiffRow } from './chart-diff-store.ts'

type Compared = Pick<ServiceRow, 'id' | 'config_version' | 'release_id'>

/** Lists the diffs of a chart, newest first. */
export const chartDiffs = async (sql: Sql, service: Compared) =>
  (await listDiffs(sql, service.id)).map((row) => toRun(row, service))

/** Returns a diff of a chart with its objects. Throws AppError `notFound`. */
export async function chartDiff(sql: Sql, service: Compared, id: string) {
  const row = await findDiff(sql, service.id, id)
  if (!row) throw notFound('diff', id)
  return toDiff(row, service)
}

/** Returns the newest diffs that were not deployed, by the id of their chart. */
export async function readChartDiffs(database: Database, services: readonly ServiceRow[]) {
  const charts = new Map(services.filter(({ kind }) => isChartKind(kind)).map((service) => [service.id, service]))
  const rows = charts.size === 0 ? [] : await listLastDiffs(database, [...charts.keys()])
  return new Map(
    rows.flatMap((row) => {
      const service = charts.get(row.service_id)
      return service && isOpen(row, service) ? [[service.id, toDiff(row, service)] as const] : []
    }),
  )
}

/** Whether the version with which a diff compared is still the installed one. */
const isOpen = ({ compared_release_id }: DiffRow, { release_id }: Compared): boolean =>
  compared_release_id === release_id

const toDiff = (row: WholeDiffRow, service: Compared) => ({ ...toRun(row, service), objects: row.diff.objects })

/** Pure: returns the fields of the API only. */
function toRun(row: DiffRow, service: Compared) {
  const { id, created_at, execution_id, commit, values_commit, counts } = row
  return {
    ...{ id, created_at, execution_id, commit, values_commit, counts },
    is_current: row.config_version === service.config_version && isOpen(row, service),
    has_changes: counts.create + counts.change + counts.delete > 0,
  }
}
