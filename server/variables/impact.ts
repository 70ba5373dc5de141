import type { Owner } from './scope.ts'

/** The parts of a variable's change that can affect services. */
export interface Change {
  readonly id: string
  readonly owner: Owner
  /** Its key before and after the change. */
  readonly keys: readonly string[]
  /**
   * Whether only the value changes. An override hides that, but not a change of the key or the
   * mount path.
   */
  readonly isValueOnly: boolean
}

/** A service of the owner's project. */
export interface Seer {
  readonly id: string
  readonly environment_id: string
}

/**
 * Another variable of the project that has one of the keys, or that refers to the changed variable
 * directly or indirectly.
 */
export interface Near {
  readonly id: string
  readonly key: string
  readonly variable_type: string
  readonly base_id: string | null
  readonly environment_id: string | null
  readonly service_id: string | null
}

/**
 * Returns the ids of the services whose workload uses the variable: all services at or below its
 * owner. A service is excluded if a narrower variable of the same key hides it and no alias makes
 * it visible again.
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

/**
 * Returns the ids of everything that refers to the variable. Variables that refer to an override do
 * not see its base's value.
 */
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

/** Whether the service sees the variables of that variable's owner. */
const isAbove = (one: Near, service: Seer): boolean =>
  one.service_id === service.id ||
  (one.service_id === null && (one.environment_id === null || one.environment_id === service.environment_id))

function isNarrower(one: Near, owner: Owner): boolean {
  if ('serviceId' in owner) return false
  return 'environmentId' in owner ? one.service_id !== null : one.service_id !== null || one.environment_id !== null
}
