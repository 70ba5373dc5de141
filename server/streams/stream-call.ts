import type { Visible } from '../access/index.ts'
import type { ClusterRow } from '../clusters/index.ts'
import type { EnvironmentRow, ProjectRow } from '../organizations/index.ts'
import type { ServiceRow } from '../services/index.ts'

/** The subject of a stream, loaded inside the caller's organization. */
export type StreamSubject =
  | { readonly type: 'service'; readonly row: ServiceRow }
  | { readonly type: 'environment'; readonly row: EnvironmentRow }
  | { readonly type: 'project'; readonly row: ProjectRow }
  | { readonly type: 'cluster'; readonly row: ClusterRow }

/** One authorized, validated stream. */
export interface StreamCall {
  readonly subject: StreamSubject
  readonly organizationId: string
  /** The query: strings and numbers, as the contract defines. */
  readonly query: Readonly<Record<string, string | number | undefined>>
  /** Of the query. */
  readonly command: readonly string[]
  /** What the caller may currently read. */
  visible(): Visible
}

/** Returns the service of the stream. The contract defines which streams have one. */
export function serviceOf({ subject }: StreamCall): ServiceRow {
  if (subject.type !== 'service') throw new Error('this stream is not about a service')
  return subject.row
}

export function environmentOf({ subject }: StreamCall): EnvironmentRow {
  if (subject.type !== 'environment') throw new Error('this stream is not about an environment')
  return subject.row
}

export function clusterOf({ subject }: StreamCall): ClusterRow {
  if (subject.type !== 'cluster') throw new Error('this stream is not about a cluster')
  return subject.row
}

export const textOf = ({ query }: StreamCall, name: string): string | undefined => {
  const value = query[name]
  return value === undefined ? undefined : String(value)
}
