import { recordChange } from '../audit/index.ts'
import type { Sql } from '../database/index.ts'
import { newId } from '../lib/id.ts'
import { findEnvironment } from '../organizations/index.ts'

/**
 * Records in the audit trail why a copy failed, before it is removed. `service` is the copy, unless
 * the copy is an environment.
 */
export async function recordFailedCopy(
  sql: Sql,
  environmentId: string,
  {
    service,
    reason,
    now,
  }: {
    readonly service?: { readonly id: string; readonly name: string; readonly kind: string }
    readonly reason: string
    readonly now: Date
  },
): Promise<void> {
  const environment = await findEnvironment(sql, environmentId)
  if (!environment) return
  const { id, name } = service ?? environment
  await recordChange(sql, {
    organization_id: environment.organization_id,
    created_at: now,
    event_type: 'DELETE',
    target_type: service ? service.kind.toUpperCase() : 'ENVIRONMENT',
    target_id: id,
    target_name: name,
    sub_target_type: null,
    project_id: environment.project_id,
    project_name: null,
    environment_id: environmentId,
    environment_name: environment.name,
    origin: 'QOVERY_INTERNAL',
    triggered_by: 'clone',
    caller: 'clone',
    user_agent: null,
    change: JSON.stringify({ id, name, reason }),
    original_change: null,
    request_id: newId(),
  })
}
