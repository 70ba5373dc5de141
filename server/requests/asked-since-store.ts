import type { Sql } from '../database/index.ts'

/**
 * Returns the services of an environment for which another caller made a request after that time.
 */
export async function servicesAskedSince(
  sql: Sql,
  asked: { readonly environmentId: string; readonly since: Date; readonly besides: string },
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ service_id: string }[]>`
    select distinct t.service_id from deployment_request r join deployment_target t on t.request_id = r.id
    where r.environment_id = ${asked.environmentId} and r.created_at > ${asked.since} and r.caller <> ${asked.besides}`
  return new Set(rows.map(({ service_id }) => service_id))
}
