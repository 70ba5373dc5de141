import { type Owned, type UsedVariable, viewOf } from './use-view.ts'

/** A variable that refers to another one. */
export interface Use {
  /** The id of the variable that is used: a stored or a built-in one. */
  readonly id: string
  readonly kind: 'ALIAS' | 'OVERRIDE' | 'REFERENCE'
  readonly by: UsedVariable
}

/** A service whose variables contain a built-in variable of another one. */
export interface ServiceLink {
  /** Null means every service of the environment, because the variable is shared. */
  readonly service_id: string | null
  readonly refers_to_id: string
  readonly keys: readonly string[]
}

export interface Uses {
  readonly uses: readonly Use[]
  readonly links: readonly ServiceLink[]
  readonly isComplete: boolean
}

/** The variables of a project, or those that one of its environments sees. */
export interface UsedPlace {
  readonly variables: readonly UsedVariable[]
  /** Those of the project or the environment. `ownerId` is the service that one describes. */
  readonly builtIns: readonly Owned[]
  /** Null for a project. */
  readonly environmentId: string | null
}

/**
 * Returns the uses of variables by variables, and the services that refer to each other. It stops
 * after `limit` uses and after `limit` keys of links, because a key that many texts name may have a
 * meaning of its own in each service. So the work grows with the input and the limit.
 */
export function usesOf(place: UsedPlace, limit: number): Uses {
  const [uses, hasAllUses] = take(findUses(place), limit)
  const [pairs, hasAllLinks] = take(findLinks(place), limit)
  return { uses, links: gather(pairs), isComplete: hasAllUses && hasAllLinks }
}

function take<T>(from: Iterable<T>, limit: number): readonly [T[], boolean] {
  const taken: T[] = []
  for (const one of from) {
    if (taken.length === limit) return [taken, false]
    taken.push(one)
  }
  return [taken, true]
}

function* findUses({ variables, builtIns }: UsedPlace): Generator<Use> {
  const view = viewOf(variables, builtIns)
  for (const by of variables) {
    const { variable_type: type, base_id: id } = by
    if (id !== null && (type === 'ALIAS' || type === 'OVERRIDE')) yield { id, kind: type, by }
    for (const key of view.keysIn(by)) for (const id of view.meanings(key, by)) yield { id, kind: 'REFERENCE', by }
  }
}

type Pair = Omit<ServiceLink, 'keys'> & { readonly key: string }

/** An alias has the text of its target, whose references have the meaning that the alias sees. */
function* findLinks({ variables, builtIns, environmentId }: UsedPlace): Generator<Pair> {
  const view = viewOf(variables, builtIns)
  for (const variable of variables) {
    const { service_id, key } = variable
    for (const owner of view.describedBy(variable, environmentId))
      if (owner !== service_id) yield { service_id, refers_to_id: owner, key }
  }
}

function gather(pairs: readonly Pair[]): ServiceLink[] {
  const found = new Map<string, { readonly link: Omit<ServiceLink, 'keys'>; readonly keys: Set<string> }>()
  for (const { key, ...link } of pairs) {
    const name = `${link.service_id} ${link.refers_to_id}`
    const entry = found.get(name) ?? { link, keys: new Set() }
    entry.keys.add(key)
    found.set(name, entry)
  }
  return [...found.values()].map(({ link, keys }) => ({ ...link, keys: [...keys] }))
}
