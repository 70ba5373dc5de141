import { builtInId } from './built-in-id.ts'
import { type BuiltInFacts, builtInsOf, prefixesOf } from './built-ins.ts'
import type { NewRow } from './import-store.ts'

/** The source or the target of a copy. */
export interface CopyPlace {
  readonly organizationId: string
  readonly projectId: string
  readonly environmentId: string
}

export interface VariableCopy {
  readonly from: CopyPlace
  readonly to: CopyPlace
  /** The ids of the copied services, each with the id of its copy, whose row already exists. */
  readonly services: ReadonlyMap<string, string>
  /** Whether the environment's own variables are copied too. */
  readonly withEnvironment: boolean
}

type Environment = NonNullable<BuiltInFacts['environment']>

/** Maps the prefix of built-in names of each copied service to the prefix of its copy. */
export function renamedPrefixes(
  from: Environment['services'],
  to: Environment['services'],
  services: ReadonlyMap<string, string>,
): Map<string, string> {
  const newPrefixes = new Map([...prefixesOf(to)].map(([prefix, { id }]) => [id, prefix]))
  const renamed = new Map<string, string>()
  for (const [prefix, { id }] of prefixesOf(from)) {
    const next = newPrefixes.get(services.get(id) ?? '')
    if (next !== undefined) renamed.set(prefix, next)
  }
  return renamed
}

const builtInName = /QOVERY_[A-Z_]+?_Z(?:[0-9A-F]{32}|[0-9A-F]{8})_/g

/** Replaces the built-in names of copied services with those of their copies. */
export const renameIn = (text: string, prefixes: ReadonlyMap<string, string>): string =>
  text.replace(builtInName, (prefix) => prefixes.get(prefix) ?? prefix)

/**
 * Maps the ids of built-ins to the ids of the same built-ins of the copy. A built-in that the copy
 * lacks has no entry.
 */
export function copiedBuiltIns(
  facts: BuiltInFacts & { readonly environment: Environment },
  copy: VariableCopy,
  prefixes: ReadonlyMap<string, string>,
): Map<string, string> {
  const { project, environment } = facts
  const owners = new Map([
    [project.id, copy.to.projectId],
    [environment.id, copy.to.environmentId],
    ...(copy.from.environmentId === copy.to.environmentId
      ? environment.services.map(({ id }): [string, string] => [id, id])
      : []),
    ...copy.services,
  ])
  const copied = environment.services.filter(({ id }) => copy.services.has(id))
  const all = [
    ...builtInsOf({ project, environment }),
    ...copied.flatMap((service) => builtInsOf({ project, environment: { ...environment, services: [] }, service })),
  ]
  const ids = new Map<string, string>()
  for (const { id, key, service } of all) {
    const ownerId = service?.id ?? (id === builtInId(project.id, key) ? project.id : environment.id)
    const owner = owners.get(ownerId)
    if (owner !== undefined) ids.set(id, builtInId(owner, renameIn(key, prefixes)))
  }
  return ids
}

/** A row of the copy, with the row from which it takes the sealed text. */
export interface CopiedRow {
  readonly row: NewRow
  readonly textOf: NewRow
}

export interface CopyFacts {
  /** The copied variables. */
  readonly rows: readonly NewRow[]
  /** Their bases outside the copy, direct and indirect. */
  readonly bases: readonly NewRow[]
  /**
   * Variables that the copy sees but does not own: those of its project, and of its environment if
   * that is not copied.
   */
  readonly around: readonly NewRow[]
  readonly prefixes: ReadonlyMap<string, string>
  readonly builtIns: ReadonlyMap<string, string>
  readonly newId: () => string
}

/**
 * Returns the rows of the copy. If a base is copied too, the new row refers to the copy of the
 * base. If the copy can reach the base itself, it keeps that base. Otherwise it takes a reachable
 * variable of the same key, and without one it becomes a plain variable with the same text.
 */
export function planCopy(copy: VariableCopy, facts: CopyFacts): CopiedRow[] {
  const { rows, bases, around, prefixes, builtIns } = facts
  const newIds = new Map(rows.map(({ id }) => [id, facts.newId()]))
  const byId = new Map([...bases, ...rows].map((row) => [row.id, row]))
  const near = new Map(around.map((row) => [row.id, row]))
  const baseFor = (row: NewRow): string | undefined => {
    const base = byId.get(row.base_id ?? '')
    if (!base) return undefined
    const inside = newIds.get(base.id) ?? near.get(base.id)?.id
    return inside ?? alike(base, row, around)?.id
  }
  return rows.map((former) => {
    const row = {
      ...former,
      id: newIds.get(former.id) ?? former.id,
      environment_id: former.environment_id === null ? null : copy.to.environmentId,
      service_id: former.service_id === null ? null : (copy.services.get(former.service_id) ?? null),
      key: renameIn(former.key, prefixes),
      base_built_in_id:
        former.base_built_in_id === null ? null : (builtIns.get(former.base_built_in_id) ?? former.base_built_in_id),
    }
    if (former.base_id === null) return { row, textOf: former }
    const base = baseFor(former)
    if (base !== undefined) return { row: { ...row, base_id: base }, textOf: former }
    return standAlone(row, former, byId)
  })
}

/** Returns the narrowest variable of the same key. The base of an alias cannot be an alias. */
const alike = (base: NewRow, row: NewRow, around: readonly NewRow[]): NewRow | undefined =>
  around
    .filter((one) => one.key === base.key && one.is_secret === base.is_secret)
    .filter((one) => row.variable_type !== 'ALIAS' || one.variable_type !== 'ALIAS')
    .sort((a, b) => Number(a.environment_id === null) - Number(b.environment_id === null))[0]

/** Returns the same variable without its base. */
function standAlone(row: NewRow, former: NewRow, byId: ReadonlyMap<string, NewRow>): CopiedRow {
  let [place, text] = [former, former]
  for (let base = byId.get(former.base_id ?? ''); base; base = byId.get(base.base_id ?? '')) {
    place = base
    if (text.variable_type === 'ALIAS') text = base
  }
  const { mount_path } = place
  const type = mount_path === null ? ('VALUE' as const) : ('FILE' as const)
  const { value, sealed_value, enable_interpolation_in_file } = text
  const whole = { ...row, variable_type: type, mount_path, base_id: null, base_built_in_id: null }
  return { row: { ...whole, value, sealed_value, enable_interpolation_in_file }, textOf: text }
}
