import type { Sql } from '../database/index.ts'
import { type AutoscalingBody, type AutoscalingRecord, autoscalingOf, setAutoscaling } from './autoscaling.ts'
import { copyPartRows } from './copy-store.ts'
import { copyServiceGroups } from './owner-store.ts'
import { type GroupRefs, groupsOf, noGroups, type OwnGroups, setGroups } from './owners.ts'

/** What the record of a service holds beside its own settings. */
export type RecordParts = OwnGroups & { readonly autoscaling?: AutoscalingRecord }

/** What a request of a service may say of them; what is absent stays as it is. */
export type PartsRequest = GroupRefs & { readonly autoscaling?: AutoscalingBody | null | undefined }

/** The parts of every one of these services, in as many questions as for one. */
export async function partsOf(sql: Sql, serviceIds: readonly string[]): Promise<(serviceId: string) => RecordParts> {
  if (serviceIds.length === 0) return () => noGroups
  const [groups, policies] = await Promise.all([groupsOf(sql, 'service', serviceIds), autoscalingOf(sql, serviceIds)])
  return (id) => {
    const autoscaling = policies.get(id)
    return { ...(groups.get(id) ?? noGroups), ...(autoscaling ? { autoscaling } : {}) }
  }
}

/**
 * Stores what a request says of the parts. Throws 404 or 400 that names the field. Inside the
 * caller's transaction, in which the caller raises `config_version`.
 */
export async function setParts(
  sql: Sql,
  service: { readonly id: string; readonly organizationId: string },
  request: PartsRequest,
  now: Date,
): Promise<void> {
  await setGroups(sql, 'service', { ownerId: service.id, organizationId: service.organizationId }, request)
  await setAutoscaling(sql, service.id, request.autoscaling, now)
}

/**
 * Gives a clone what hangs on its original: advanced settings, deployment restrictions, groups and
 * autoscaling; no custom domains.
 */
export async function copyServiceParts(sql: Sql, fromServiceId: string, toServiceId: string, now: Date): Promise<void> {
  await copyPartRows(sql, { fromId: fromServiceId, toId: toServiceId, now })
  await copyServiceGroups(sql, fromServiceId, toServiceId)
}
