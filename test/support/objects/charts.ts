import { newId } from '../../../server/lib/id.ts'
import { summarizeDiff } from '../../../server/rollout/index.ts'
import type { Contribution } from '../fixture.ts'

/** Adds a diff of the chart. */
export const addChartObjects: Contribution = async ({ database, objects }) => {
  const chart = objects.more['helmId'] ?? ''
  const diffId = newId()
  const of = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one', change: 'CHANGE', omitted: 0 } as const
  const fields = [{ path: 'data.text', before: '"a"', after: undefined, isHidden: false }]
  const diff = summarizeDiff([{ ...of, fields }], (text) => text)
  await database`
    insert into chart_diff (id, service_id, request_id, release_id, created_at, diff)
    values (${diffId}, ${chart}, ${newId()}, ${newId()}, now(), ${database.json(diff)})`
  return { diffId }
}
