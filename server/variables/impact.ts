import type { Owner } from './scope.ts'

/** A change of one variable, as far as services may feel it. */
export interface Change {
  readonly id: string
  readonly owner: Owner
  /** Its key, before and after. */
  readonly keys: readonly string[]
  /** Nothing but the value changes: an override hides that, but no change of the key or of the place. */
  readonly isValueOnly: boolean
}

/** A service of the owner's project. */
export interface Seer {
  readonly id: string
  readonly environment_id: string
}

/** Another variable of the same project: of one of the keys, or standing on a changed one, over others too. */
export interface Near {
  readonly id: string
  readonly key: string
  readonly variable_type: string
  readonly base_id: string | null
  readonly environment_id: string | null
  readonly service_id: string | null
}

/**
 * The ids of the services whose workload is made with the variable: those at or below its owner, except where a narrower
 * one of the same key hides it and no alias brings it back.
 */
export function servicesThatSee(change: Change, services: readonly Seer[], near: readonly Near[]): string[] {
  const standing = standingOn(change, near)
  const spreading = near.filter((one) => one.variable_type === 'ALIAS' && standing.has(one.id))
  const hiding = near.filter(
    (one) => one.id !== change.id && isNarrower(one, change.owner) && (change.isValueOnly || !standing.has(one.id)),
  )
  const sees = (service: Seer): boolean =>
    change.keys.some((key) => !hiding.some((one) => one.key === key && isAbove(one, service))) ||
    spreading.some((one) => isAbove(one, service))
  return services.filter((service) => isBelow(service, change.owner) && sees(service)).map(({ id }) => id)
}

/** The ids of what stands on the variable; what stands on an override of it does not feel its value. */
function standingOn(change: Change, near: readonly Near[]): Set<string> {
  const found = new Set<string>()
  const from = [change.id]
  for (let base = from.pop(); base !== undefined; base = from.pop()) {
    for (const one of near) {
      if (one.base_id !== base || found.has(one.id)) continue
      found.add(one.id)
      if (!change.isValueOnly || one.variable_type === 'ALIAS') from.push(one.id)
    }
  }
  return found
}

function isBelow(service: Seer, owner: Owner): boolean {
  if ('serviceId' in owner) return service.id === owner.serviceId
  return 'projectId' in owner || service.environment_id === owner.environmentId
}

/** Whether the service sees what that variable's owner has. */
const isAbove = (one: Near, service: Seer): boolean =>
  one.service_id === service.id ||
  (one.service_id === null && (one.environment_id === null || one.environment_id === service.environment_id))

function isNarrower(one: Near, owner: Owner): boolean {
  if ('serviceId' in owner) return false
  return 'environmentId' in owner ? one.service_id !== null : one.service_id !== null || one.environment_id !== null
}
