import { builtInId } from './built-in-id.ts'
import { type BuiltInFacts, builtInsOf, prefixesOf } from './built-ins.ts'
import type { NewRow } from './import-store.ts'

/** Where variables are copied from or to. */
export interface CopyPlace {
  readonly organizationId: string
  readonly projectId: string
  readonly environmentId: string
}

export interface VariableCopy {
  readonly from: CopyPlace
  readonly to: CopyPlace
  /** The ids of the services to copy, each with the id of its copy, whose row is there already. */
  readonly services: ReadonlyMap<string, string>
  /** Whether the environment's own variables are copied, too. */
  readonly withEnvironment: boolean
}

type Environment = NonNullable<BuiltInFacts['environment']>

/** The beginnings of built-in names that tell of a copied service, each with that of its copy. */
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

/** The text with the names of copied services in place of those of the former ones. */
export const renameIn = (text: string, prefixes: ReadonlyMap<string, string>): string =>
  text.replace(builtInName, (prefix) => prefixes.get(prefix) ?? prefix)

/** The ids of built-ins, each with that of the same one in the copy. Those that are not there have none. */
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

/** A row of the copy, with the row whose sealed text it takes. */
export interface CopiedRow {
  readonly row: NewRow
  readonly textOf: NewRow
}

export interface CopyFacts {
  /** What is copied. */
  readonly rows: readonly NewRow[]
  /** What they stand on elsewhere, and what that stands on. */
  readonly bases: readonly NewRow[]
  /** What the copy can reach without having it: of its project, and of its environment where that is not copied. */
  readonly around: readonly NewRow[]
  readonly prefixes: ReadonlyMap<string, string>
  readonly builtIns: ReadonlyMap<string, string>
  readonly newId: () => string
}

/**
 * The rows of the copy. What stands on a copied variable stands on its copy; on one that is reachable from the copy, on just that;
 * else on the one of the same key that is; and where there is none, it becomes a variable with the same text.
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

/** The narrowest of the same key; an alias has no alias. */
const alike = (base: NewRow, row: NewRow, around: readonly NewRow[]): NewRow | undefined =>
  around
    .filter((one) => one.key === base.key && one.is_secret === base.is_secret)
    .filter((one) => row.variable_type !== 'ALIAS' || one.variable_type !== 'ALIAS')
    .sort((a, b) => Number(a.environment_id === null) - Number(b.environment_id === null))[0]

/** The same variable without what it stood on. */
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
