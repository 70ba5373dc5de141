import type { Sql } from '../database/index.ts'
import type { Rival } from './claim.ts'
import { lockOwner } from './custom-domain-store.ts'
import { baseOf } from './domain-name.ts'
import { type ProofState, serviceNameOf } from './proof.ts'

/** A custom domain whose DNS must be checked. */
export interface DueDomain extends ProofState {
  readonly id: string
  readonly domain: string
  readonly organization_id: string
  readonly service_id: string
}

/** Locks proofs, so names are proven one at a time. Take it before locks of services. */
export const lockProofs = async (sql: Sql): Promise<void> =>
  void (await sql`select pg_advisory_xact_lock(hashtextextended('quayside custom domains', 0))`)

/** An SQL expression: whether `listDueDomains` finds a domain. */
export const isDomainDue = (sql: Sql, now: Date) => sql`exists (select from custom_domain where next_ask_at <= ${now})`

/** Lists the longest-waiting domains: at most `each` per organization and `most` in total. */
export const listDueDomains = (sql: Sql, now: Date, { each, most }: { readonly each: number; readonly most: number }) =>
  sql<DueDomain[]>`
    select * from (select *, row_number() over (partition by organization_id order by next_ask_at, id) as turn
      from custom_domain where next_ask_at <= ${now}) due
    where turn <= ${each} order by turn, next_ask_at limit ${most}`

/** Locks the service, then the domain. Undefined if the domain no longer has the checked name. */
export async function lockDomain(
  sql: Sql,
  { id, domain, service_id }: Pick<DueDomain, 'id' | 'domain' | 'service_id'>,
): Promise<DueDomain | undefined> {
  await lockOwner(sql, service_id)
  const [row] = await sql<DueDomain[]>`
    select * from custom_domain where id = ${id} and domain = ${domain} for no key update`
  return row
}

/** Lists proven domains of other organizations at a name, above it and below it. */
export function listRivals(sql: Sql, organizationId: string, domain: string): Promise<Rival[]> {
  const base = baseOf(domain)
  const labels = base.split('.')
  const above = labels.map((_, index) => labels.slice(index).join('.'))
  const below = `${[...`.${base}`].reverse().join('')}%`
  return sql<Rival[]>`
    select id, service_id, domain, proof, lost_since from custom_domain
    where proof is not null and organization_id <> ${organizationId}
      and (base = any(${above}::text[]) or reverse(base) like ${below})
    order by domain`
}

export async function storeProof(sql: Sql, id: string, state: ProofState, askedAt: Date | null): Promise<void> {
  const { proof, proven_at, lost_since, pending_since, next_ask_at, asks, finding } = state
  await sql`
    update custom_domain set ${sql({ proof, proven_at, lost_since, pending_since, next_ask_at, asks, finding })},
      asked_at = coalesce(${askedAt}, asked_at) where id = ${id}`
}

/**
 * Returns those of these host names that the platform gave to services of an organization: below
 * the domain of the service's cluster, or below `platform` if its cluster has none.
 */
export async function ownNames(
  sql: Sql,
  organizationId: string,
  names: readonly string[],
  platform: string,
): Promise<ReadonlySet<string>> {
  const asked = names.flatMap((name) => {
    const read = serviceNameOf(name)
    return read ? [{ name, ...read }] : []
  })
  if (asked.length === 0) return new Set()
  const rows = await sql<{ name: string }[]>`
    select n.name from jsonb_to_recordset(${sql.json(asked)}) as n(name text, digits text, domain text)
    where exists (select from service s join environment e on e.id = s.environment_id
      join project p on p.id = e.project_id join cluster k on k.id = e.cluster_id
      where p.organization_id = ${organizationId}
        and s.id between (n.digits || '-0000-0000-0000-000000000000')::uuid
          and (n.digits || '-ffff-ffff-ffff-ffffffffffff')::uuid
        and coalesce(k.traffic_domain, ${platform}) = n.domain)`
  return new Set(rows.map((row) => row.name))
}
