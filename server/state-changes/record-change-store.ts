import type { Sql } from '../database/index.ts'

interface Changed {
  readonly organizationId: string
  /** The part of the record: the second target of the audit event, or `RECORD`. */
  readonly subject: string
}

/** A change of a record, at the level that decides who may know of it. */
export type RecordChange = Changed &
  (
    | { readonly level: 'organization' }
    | { readonly level: 'cluster'; readonly clusterId: string }
    | { readonly level: 'project'; readonly projectId: string }
    | { readonly level: 'environment'; readonly environmentId: string }
    | {
        readonly level: 'service'
        readonly environmentId: string
        readonly serviceId: string
        readonly kind: string
      }
  )

/**
 * Writes a change of a record into the feed, in the transaction of the change. Nothing is written
 * for an environment that is gone: its deletion is reported already.
 */
export async function insertRecordChange(sql: Sql, change: RecordChange): Promise<void> {
  const { level, organizationId, subject } = change
  const type = `${level}.changed`
  if (level === 'environment' || level === 'service') {
    const ofService = level === 'service' ? { service_id: change.serviceId, kind: change.kind } : {}
    await sql`
      insert into state_change (organization_id, project_id, mode, cluster_id, type, data)
      select ${organizationId}::uuid, e.project_id, e.mode, e.cluster_id, ${type}::text,
        jsonb_build_object('project_id', e.project_id, 'environment_id', e.id) || ${sql.json({ ...ofService, subject })}
      from environment e where e.id = ${change.environmentId}`
    return
  }
  const projectId = level === 'project' ? change.projectId : null
  const clusterId = level === 'cluster' ? change.clusterId : null
  const above = { ...(projectId && { project_id: projectId }), ...(clusterId && { cluster_id: clusterId }) }
  await sql`
    insert into state_change (organization_id, project_id, cluster_id, type, data)
    values (${organizationId}, ${projectId}, ${clusterId}, ${type}, ${sql.json({ ...above, subject })})`
}
