import type { Sql } from '../database/index.ts'
import { forgetFullVolume } from '../disk/index.ts'
import type { CommitJson, ReleaseRow } from '../releases/index.ts'
import { awaken, forgetScale } from '../scaling/index.ts'

/** Records that the release has the traffic. `UP_TO_DATE` compares with it from now on. */
export async function setServing(
  sql: Sql,
  release: Pick<ReleaseRow, 'id' | 'service_id' | 'config_version' | 'commit'>,
  now: Date,
): Promise<void> {
  const { commit } = release
  const serving = sql`
    with served as (update release set served_at = ${now} where id = ${release.id})
    update service set release_id = ${release.id}, last_deployment_date = ${now},
      drifted_at = null, deployed_config_version = ${release.config_version},
      deployed_commit = ${commit && sql.json({ ...commit })}
    where id = ${release.service_id}`
  await Promise.all([serving, awaken(sql, release.service_id), forgetFullVolume(sql, release.service_id)])
}

/** Records that nothing of the service is to run. */
export async function setServingNothing(sql: Sql, serviceId: string): Promise<void> {
  await sql`update service set release_id = null, drifted_at = null where id = ${serviceId}`
  await forgetScale(sql, serviceId)
  await forgetFullVolume(sql, serviceId)
}

export async function setLastDeployment(sql: Sql, serviceId: string, now: Date): Promise<void> {
  await sql`update service set last_deployment_date = ${now} where id = ${serviceId}`
}

/** Adds the fetched details to a commit that was pinned by its id. */
export async function setReleaseCommit(sql: Sql, releaseId: string, commit: CommitJson): Promise<void> {
  await sql`update release set commit = commit || ${sql.json({ ...commit })} where id = ${releaseId}`
}

/** Sets the stages of targets when the request begins: services may have moved while it waited. */
export async function placeTargets(sql: Sql, requestId: string): Promise<void> {
  await sql`
    update deployment_target t set stage_id = g.id, stage_name = g.name, stage_order = g.deployment_order
    from service s join deployment_stage g on g.id = s.stage_id
    where t.request_id = ${requestId} and s.id = t.service_id and t.status = 'QUEUED'
      and (t.stage_id, t.stage_name, t.stage_order) is distinct from (g.id, g.name, g.deployment_order)`
}

/** Records that these services no longer wait for their stage. */
export async function startTargets(
  sql: Sql,
  requestId: string,
  serviceIds: readonly string[],
  now: Date,
): Promise<void> {
  await sql`
    update deployment_target set status = 'ONGOING', started_at = coalesce(started_at, ${now})
    where request_id = ${requestId} and service_id = any(${[...serviceIds]}::uuid[]) and status = 'QUEUED'`
}

export async function hasServices(sql: Sql, environmentId: string): Promise<boolean> {
  const [row] = await sql`select id from service where environment_id = ${environmentId} limit 1`
  return row !== undefined
}

/** Returns why the last request failed for a service. */
export async function lastReason(sql: Sql, serviceId: string): Promise<string | undefined> {
  const [row] = await sql<{ reason: string | null }[]>`
    select reason from deployment_target where service_id = ${serviceId} order by service_seq desc limit 1`
  return row?.reason ?? undefined
}
