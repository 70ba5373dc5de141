import type { Sql } from '../database/index.ts'
import { clockToleranceMs, moved } from './policy.ts'

/** A cluster with a domain and with routers of the platform that speak TLS. */
export interface DomainOfCluster {
  readonly cluster: string
  readonly domain: string
}

/**
 * Lists clusters about whose domains DNS was not asked since then, the longest-waiting first. A
 * question that is in the future was asked while the clock was ahead, and does not count.
 */
export const listUnasked = (
  sql: Sql,
  { since, now, most }: { readonly since: Date; readonly now: Date; readonly most: number },
) =>
  sql<DomainOfCluster[]>`
    select id as cluster, traffic_domain as domain from cluster
    where traffic_domain is not null and has_own_tls
      and (wildcard_asked_at between ${since} and ${moved(now, clockToleranceMs)}) is not true
    order by wildcard_asked_at nulls first, id limit ${most}`

/**
 * Stores whether the DNS of a cluster's domain leads a proof to the platform. Undefined: DNS did
 * not answer, and what is known stays. Nothing is stored if the domain has changed meanwhile.
 */
export const storeDelegation = async (
  sql: Sql,
  { cluster, domain }: DomainOfCluster,
  { leads, now }: { readonly leads: boolean | undefined; readonly now: Date },
): Promise<void> =>
  void (await sql`
    update cluster set wildcard_asked_at = ${now},
      wildcard_domain = case ${leads ?? null}::boolean when true then ${domain} when false then null
        else wildcard_domain end
    where id = ${cluster} and traffic_domain = ${domain}`)

/**
 * Returns the domain of a cluster whose names have certificates of the platform, and whether they
 * share a wildcard. Undefined without such a domain.
 */
export async function findDelegation(
  sql: Sql,
  cluster: string,
): Promise<{ readonly domain: string; readonly is_shared: boolean } | undefined> {
  const [row] = await sql<{ domain: string; is_shared: boolean }[]>`
    select traffic_domain as domain, coalesce(wildcard_domain = traffic_domain, false) as is_shared from cluster
    where id = ${cluster} and traffic_domain is not null and not tls_by_controller`
  return row
}
