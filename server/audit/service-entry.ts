import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { AuditEntry } from './record.ts'

/** The known facts of a service at a change. */
export interface ServicePlace {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly organization_id: string
  readonly project_id: string
  readonly project_name: string
  readonly environment_id: string
  readonly environment_name: string
}

/**
 * Builds the entry of a service's change by the platform itself, with `by` as its actor and
 * `change` as JSON.
 */
export const serviceEntry = (
  service: ServicePlace,
  { by, change, ...entry }: Pick<AuditEntry, 'created_at' | 'event_type' | 'origin' | 'request_id'> & ByWhom,
): AuditEntry => ({
  ...entry,
  organization_id: service.organization_id,
  target_type: serviceTypeOf(service.kind),
  target_id: service.id,
  target_name: service.name,
  sub_target_type: null,
  project_id: service.project_id,
  project_name: service.project_name,
  environment_id: service.environment_id,
  environment_name: service.environment_name,
  triggered_by: by.name,
  caller: by.caller,
  user_agent: null,
  change: JSON.stringify(change),
  original_change: null,
})

interface ByWhom {
  readonly by: { readonly name: string; readonly caller: string }
  readonly change: object
}
