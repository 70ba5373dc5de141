import type { Sql } from '../database/index.ts'
import {
  type AutoscalingBody,
  type AutoscalingRecord,
  autoscalingOf,
  type EventsOf,
  setAutoscaling,
} from './autoscaling.ts'
import { copyPartRows } from './copy-store.ts'
import { copyServiceGroups } from './owner-store.ts'
import { type GroupRefs, groupsOf, noGroups, type OwnGroups, setGroups } from './owners.ts'

/** The parts of a service's record besides its own settings. */
export type RecordParts = OwnGroups & { readonly autoscaling?: AutoscalingRecord }

/** The parts that a request for a service may change; absent parts are unchanged. */
export type PartsRequest = GroupRefs & { readonly autoscaling?: AutoscalingBody | null | undefined }

/** Returns the parts of all these services, with as many queries as for one service. */
export async function partsOf(sql: Sql, serviceIds: readonly string[]): Promise<(serviceId: string) => RecordParts> {
  if (serviceIds.length === 0) return () => noGroups
  const [groups, policies] = await Promise.all([groupsOf(sql, 'service', serviceIds), autoscalingOf(sql, serviceIds)])
  return (id) => {
    const autoscaling = policies.get(id)
    return { ...(groups.get(id) ?? noGroups), ...(autoscaling ? { autoscaling } : {}) }
  }
}

/**
 * Stores the parts of a request. Throws 404 or 400 that names the field. Runs inside the caller's
 * transaction, in which the caller raises `config_version`.
 */
export async function setParts(
  sql: Sql,
  service: { readonly id: string; readonly organizationId: string },
  request: PartsRequest,
  given: { readonly now: Date; readonly eventsOf: EventsOf },
): Promise<void> {
  await setGroups(sql, 'service', { ownerId: service.id, organizationId: service.organizationId }, request)
  await setAutoscaling(sql, service.id, request.autoscaling, given)
}

/**
 * Copies the parts of the original to a clone: advanced settings, deployment restrictions, groups
 * and autoscaling. Custom domains are not copied.
 */
export async function copyServiceParts(sql: Sql, fromServiceId: string, toServiceId: string, now: Date): Promise<void> {
  await copyPartRows(sql, { fromId: fromServiceId, toId: toServiceId, now })
  await copyServiceGroups(sql, fromServiceId, toServiceId)
}
