import type { Fragment, Sql } from '../database/index.ts'

/** A cluster with a kubeconfig that an engine of its own runs. */
export interface ConnectionRow {
  readonly id: string
  readonly organization_id: string
  /** The name of its engine. */
  readonly engine: string
  /** Changes with the kubeconfig. */
  readonly kubeconfig_mark: string
}

const connected = (sql: Sql) => sql`kubeconfig_mark is not null and engine is not null and engine <> 'local'`

export const listConnections = (sql: Sql) => sql<ConnectionRow[]>`
  select id, organization_id, engine, kubeconfig_mark from cluster where ${connected(sql)} order by engine`

/** Returns the marks of these connections as one text, as `otherConnections` compares it. */
export const marksOf = (rows: readonly Pick<ConnectionRow, 'engine' | 'kubeconfig_mark'>[]): string =>
  rows
    .map(({ engine, kubeconfig_mark }) => `${engine} ${kubeconfig_mark}`)
    .toSorted()
    .join(',')

/** Returns an expression that is true if the connections are not those with these marks. */
export const otherConnections = (sql: Sql, marks: string): Fragment => sql`
  (select coalesce(string_agg(mark, ',' order by mark collate "C"), '')
   from (select engine || ' ' || kubeconfig_mark as mark from cluster where ${connected(sql)}) of_clusters) <> ${marks}`
