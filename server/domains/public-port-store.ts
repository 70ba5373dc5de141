import type { Sql } from '../database/index.ts'

interface PublicPortRow {
  readonly host: string
  readonly port: number
}

export async function findPublicPort(sql: Sql, serviceId: string): Promise<PublicPortRow | undefined> {
  const [row] = await sql<PublicPortRow[]>`select host, port from public_port where service_id = ${serviceId}`
  return row
}

/** Locks the assignment of ports until the transaction ends. */
export async function lockPublicPorts(sql: Sql): Promise<void> {
  await sql`lock table public_port in share row exclusive mode`
}

/** Returns the ports of this machine that other services have. */
export async function listTakenPorts(sql: Sql, serviceId: string): Promise<ReadonlySet<number>> {
  const rows = await sql<{ port: number }[]>`
    select port from public_port where service_id <> ${serviceId}
    union all select public_port from route where public_port is not null and service_id <> ${serviceId}`
  return new Set(rows.map(({ port }) => port))
}

/**
 * Assigns the first free port to the service, starting at the preferred one and wrapping around the
 * range. Undefined if no port is free.
 */
export async function insertPublicPort(
  sql: Sql,
  service: { readonly id: string; readonly host: string },
  { first, last, preferred }: { readonly first: number; readonly last: number; readonly preferred: number },
): Promise<PublicPortRow | undefined> {
  const [row] = await sql<PublicPortRow[]>`
    insert into public_port (service_id, host, port)
    select ${service.id}, ${service.host}, candidate
    from generate_series(${first}::int, ${last}::int) candidate
    where not exists (select from public_port p where p.port = candidate and p.service_id <> ${service.id})
      and not exists (select from route r where r.public_port = candidate)
    order by candidate < ${preferred}::int, candidate
    limit 1
    on conflict (service_id) do update set host = excluded.host, port = excluded.port
    returning host, port`
  return row
}

/** Releases the port of a private service, unless it is about to become public again. */
export async function releasePublicPort(sql: Sql, serviceId: string): Promise<void> {
  await sql`
    delete from public_port p using service s
    where p.service_id = ${serviceId} and s.id = p.service_id and s.accessibility is distinct from 'PUBLIC'`
}

/** Releases the port of a service whose router opens another one. */
export const deletePublicPort = async (sql: Sql, serviceId: string): Promise<void> =>
  void (await sql`delete from public_port where service_id = ${serviceId}`)
