/** A stored variable without its text. */
export interface UsedVariable {
  readonly id: string
  readonly key: string
  readonly variable_type: 'VALUE' | 'FILE' | 'ALIAS' | 'OVERRIDE'
  /** The stored or built-in variable to which an alias or an override refers. */
  readonly base_id: string | null
  readonly mount_path: string | null
  readonly enable_interpolation_in_file: boolean
  /** The keys that its text names as `{{KEY}}`, each once. Empty for a secret. */
  readonly named_keys: readonly string[]
  /** Null for a variable of a project. */
  readonly environment_id: string | null
  readonly service_id: string | null
}

/** A built-in variable, and the service that it describes. */
export interface Owned {
  readonly id: string
  readonly key: string
  readonly ownerId: string | undefined
}

type Place = Pick<UsedVariable, 'environment_id' | 'service_id'>

/** Answers which variables a variable refers to, by the rules of `resolve`. */
export interface UseView {
  /** Lists the keys that are replaced in the variable's own text. */
  keysIn(variable: UsedVariable): readonly string[]
  /**
   * Lists the ids that the key has in the text of the variable: the one of its own scope, and those
   * of the narrower scopes that see the text.
   */
  meanings(key: string, at: Place): Iterable<string>
  /**
   * Lists the services whose built-in variables the final text contains in the environment. Only a
   * variable of the project depends on it.
   */
  describedBy(variable: UsedVariable, environmentId: string | null): Iterable<string>
}

const idOf = ({ environment_id, service_id }: Place, key: string): string => `${environment_id} ${service_id} ${key}`

export function viewOf(variables: readonly UsedVariable[], builtIns: readonly Owned[]): UseView {
  const byId = new Map(variables.map((variable) => [variable.id, variable]))
  const byPlace = new Map(variables.map((variable) => [idOf(variable, variable.key), variable]))
  const below = belowOf(variables)
  const builtInById = new Map(builtIns.map((builtIn) => [builtIn.id, builtIn]))
  const builtInByKey = new Map(builtIns.map((builtIn) => [builtIn.key, builtIn]))

  /** The narrowest variable of the key. Built-in ones come last. */
  const meaning = (key: string, { environment_id, service_id }: Place): UsedVariable | Owned | undefined =>
    (service_id === null ? undefined : byPlace.get(idOf({ environment_id, service_id }, key))) ??
    (environment_id === null ? undefined : byPlace.get(idOf({ environment_id, service_id: null }, key))) ??
    byPlace.get(idOf({ environment_id: null, service_id: null }, key)) ??
    builtInByKey.get(key)
  const targetOf = (variable: UsedVariable): UsedVariable | Owned | undefined =>
    variable.variable_type === 'ALIAS' ? followAlias(variable, byId, builtInById) : variable
  const keysIn = (variable: UsedVariable): readonly string[] =>
    !isFile(variable, byId) || variable.enable_interpolation_in_file ? variable.named_keys : []

  return {
    keysIn,
    *meanings(key, at) {
      const own = meaning(key, at)
      if (own) yield own.id
      if (at.service_id === null) for (const { id } of below.get(`${at.environment_id} ${key}`) ?? []) yield id
    },
    *describedBy(variable, environmentId) {
      const at = { ...variable, environment_id: variable.environment_id ?? environmentId }
      const target = targetOf(variable)
      if (!target) return
      if ('ownerId' in target) return void (target.ownerId !== undefined && (yield target.ownerId))
      for (const key of keysIn(target)) {
        const found = meaning(key, at)
        // A text that is put into another one is not searched for references.
        const last = found && !('ownerId' in found) ? targetOf(found) : found
        if (last && 'ownerId' in last && last.ownerId !== undefined) yield last.ownerId
      }
    },
  }
}

/** The variables of narrower scopes, by the environment of the wider one and by their keys. */
function belowOf(variables: readonly UsedVariable[]): ReadonlyMap<string, readonly UsedVariable[]> {
  const found = new Map<string, UsedVariable[]>()
  for (const variable of variables) {
    const { environment_id, service_id, key } = variable
    const wider = [...(environment_id === null ? [] : [null]), ...(service_id === null ? [] : [environment_id])]
    for (const place of wider) {
      const name = `${place} ${key}`
      const list = found.get(name) ?? []
      list.push(variable)
      found.set(name, list)
    }
  }
  return found
}

function followAlias(
  alias: UsedVariable,
  byId: ReadonlyMap<string, UsedVariable>,
  builtInById: ReadonlyMap<string, Owned>,
): UsedVariable | Owned | undefined {
  const seen = new Set<UsedVariable>()
  let target: UsedVariable | undefined = alias
  while (target?.variable_type === 'ALIAS' && !seen.has(target)) {
    seen.add(target)
    const next: string = target.base_id ?? ''
    target = byId.get(next)
    if (!target) return builtInById.get(next)
  }
  return target
}

/** Overrides have the mount path of their base. */
function isFile(variable: UsedVariable, byId: ReadonlyMap<string, UsedVariable>): boolean {
  const seen = new Set<UsedVariable>()
  let at: UsedVariable | undefined = variable
  while (at && at.mount_path === null && at.base_id !== null && !seen.has(at)) {
    seen.add(at)
    at = byId.get(at.base_id)
  }
  return at !== undefined && at.mount_path !== null
}
