import { runningStates } from '@quayside/contract/running-states.ts'
import type { StateChangeRow } from './state-change-store.ts'

/** One change and its place, for followers who may read only a part of the organization. */
export interface StateChange {
  readonly sequence: number
  readonly organizationId: string
  readonly projectId: string | undefined
  readonly mode: string | undefined
  readonly clusterId: string | undefined
  readonly type: string
  /** The message to clients, without its number. */
  readonly data: Readonly<Record<string, string>>
}

/** The position in the feed at which a returning follower continues. */
export type Position =
  | { readonly after: number; readonly complete: true }
  /**
   * Whether later changes were deleted, or its number was never assigned. Everything must be read
   * again then.
   */
  | { readonly after: number; readonly complete: false }

/** Turns a row into the message for clients. */
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

/** The API's word for the observed state of a service, and for the state of a job's runs. */
export const runningState = (observed: string | null | undefined) =>
  // Only words of the table are written to the column and returned by `job_state`.
  runningStates[(observed ?? 'absent') as keyof typeof runningStates]

/** `known` is the last number that a client has seen. */
export function positionOf(
  known: number,
  feed: { readonly last_sequence: number; readonly pruned_sequence: number },
): Position {
  if (known < feed.pruned_sequence || known > feed.last_sequence) return { after: feed.last_sequence, complete: false }
  return { after: known, complete: true }
}
