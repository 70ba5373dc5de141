import type { Fragment, Sql } from '../database/index.ts'

/** A cluster with a kubeconfig. An engine of its own reaches it. */
export interface ConnectionRow {
  readonly id: string
  readonly organization_id: string
  /** The name of its engine. */
  readonly engine: string
  /** Changes with the kubeconfig. */
  readonly kubeconfig_mark: string
  /** Whether names of its services lead to its own ingress controller. */
  readonly has_domain: boolean
}

/** The name of the engine is that of `engineNameOf`. */
const connections = (sql: Sql) => sql`
  select id, organization_id, 'kubernetes-' || id as engine, kubeconfig_mark,
    traffic_domain is not null as has_domain
  from cluster
  where kubeconfig_mark is not null and kubernetes = 'SELF_MANAGED'`

export const listConnections = (sql: Sql) => sql<ConnectionRow[]>`${connections(sql)} order by engine`

/** Returns the marks of these connections as one text, as `otherConnections` compares it. */
export const marksOf = (rows: readonly Omit<ConnectionRow, 'id' | 'organization_id'>[]): string =>
  rows
    .map(({ engine, kubeconfig_mark, has_domain }) => `${engine} ${kubeconfig_mark} ${has_domain}`)
    .toSorted()
    .join(',')

/** Returns an expression that is true if the connections are not those with these marks. */
export const otherConnections = (sql: Sql, marks: string): Fragment => sql`
  (select coalesce(string_agg(mark, ',' order by mark collate "C"), '')
   from (select concat_ws(' ', engine, kubeconfig_mark, has_domain::text) as mark
         from (${connections(sql)}) one) of_all) <> ${marks}`

/** Returns the sealed kubeconfig of a cluster. Undefined if it has none. */
export async function findKubeconfig(
  sql: Sql,
  clusterId: string,
): Promise<{ readonly organization_id: string; readonly sealed_kubeconfig: string } | undefined> {
  const [row] = await sql<{ organization_id: string; sealed_kubeconfig: string }[]>`
    select organization_id, sealed_kubeconfig from cluster where id = ${clusterId} and sealed_kubeconfig is not null`
  return row
}
