import type { Sql } from '../database/index.ts'

/**
 * Finds the releases of a deployment's service, by execution or request: the releases that it
 * started or kept. By request, releases that a restart or a rollback started again also count,
 * because their programs have that id in `QOVERY_DEPLOYMENT_ID`.
 */
export async function listReleasesOf(sql: Sql, serviceId: string, deployment: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with named as (
      select t.request_id, t.release_id from deployment_target t join deployment_request q on q.id = t.request_id
      where t.service_id = ${serviceId} and (q.execution_id = ${deployment} or q.id::text = ${deployment})
    )
    select release_id as id from named where release_id is not null
    union
    select r.id from release r left join release v on v.id = r.copy_of
    where r.service_id = ${serviceId}
      and (r.request_id in (select request_id from named) or ${deployment} in (r.request_id::text, v.request_id::text))`
  return rows.map(({ id }) => id)
}
