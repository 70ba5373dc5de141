import { runningStates } from '@quayside/contract/running-states.ts'
import type { StateChangeRow } from './state-change-store.ts'

/** One change, and where it happened: for those who may read only a part of the organization. */
export interface StateChange {
  readonly sequence: number
  readonly organizationId: string
  readonly projectId: string | undefined
  readonly mode: string | undefined
  readonly clusterId: string | undefined
  readonly type: string
  /** What clients are sent, without its number. */
  readonly data: Readonly<Record<string, string>>
}

/** Where in the feed somebody who comes back goes on. */
export type Position =
  | { readonly after: number; readonly complete: true }
  /** Changes after the one he knows are deleted, or he knows a number that was never given: everything has to be read anew. */
  | { readonly after: number; readonly complete: false }

/** Pure: a row as clients see it. */
export const toStateChange = (row: StateChangeRow): StateChange => ({
  sequence: row.sequence,
  organizationId: row.organization_id,
  projectId: row.project_id ?? undefined,
  mode: row.mode ?? undefined,
  clusterId: row.cluster_id ?? undefined,
  type: row.type,
  data: {
    at: row.created_at.toISOString(),
    organization_id: row.organization_id,
    ...row.data,
    ...(row.type === 'service.running' && { state: runningState(row.data['state']) }),
  },
})

/** The API's word for what an engine was seen to run of a service, and for what the runs of a job tell. */
export const runningState = (observed: string | null | undefined) =>
  // Only words of the table are written to the column, and given by `job_state`.
  runningStates[(observed ?? 'absent') as keyof typeof runningStates]

/** Pure: `known` is the number that a client has seen last. */
export function positionOf(
  known: number,
  feed: { readonly last_sequence: number; readonly pruned_sequence: number },
): Position {
  if (known < feed.pruned_sequence || known > feed.last_sequence) return { after: feed.last_sequence, complete: false }
  return { after: known, complete: true }
}
