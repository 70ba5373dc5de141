import type { ChangedField, ChartChange, RenderedObject } from '../../engine.ts'
import { label } from '../labels.ts'

/** More fields of one object are not listed. */
const mostFields = 50

/**
 * Returns what differs between the objects of two releases of a chart. Values of Secrets are left
 * out. The label with the release of the platform does not count. Pure.
 */
export function compareObjects(
  before: readonly RenderedObject[],
  after: readonly RenderedObject[],
  home: string,
): readonly ChartChange[] {
  const keyOf = ({ apiVersion, kind, metadata: { name, namespace = home } }: RenderedObject): string =>
    `${apiVersion.split('/', 1)[0]} ${kind} ${namespace} ${name}`
  const old = new Map(before.map((object) => [keyOf(object), object]))
  const young = new Map(after.map((object) => [keyOf(object), object]))
  const changed = after.flatMap((object): ChartChange[] => {
    const former = old.get(keyOf(object))
    if (!former) return [{ ...nameOf(object, home), change: 'CREATE', fields: [] }]
    const fields = fieldsOf(object.kind, former, object)
    return fields.length === 0 ? [] : [{ ...nameOf(object, home), change: 'CHANGE', fields }]
  })
  const gone = before.filter((object) => !young.has(keyOf(object)))
  return [...changed, ...gone.map((one): ChartChange => ({ ...nameOf(one, home), change: 'DELETE', fields: [] }))]
}

const nameOf = ({ kind, metadata: { name, namespace } }: RenderedObject, home: string) => ({
  ...{ kind, name },
  ...(namespace !== undefined && namespace !== home && { namespace }),
})

/** The namespace is part of what identifies an object. */
const ignored = [`metadata.labels.${label.release}`, 'metadata.namespace']

function fieldsOf(kind: string, before: RenderedObject, after: RenderedObject): readonly ChangedField[] {
  const found = [...differences('', before, after)].filter(({ path }) => !ignored.includes(path)).slice(0, mostFields)
  const isHidden = ({ path }: ChangedField): boolean => kind === 'Secret' && /^(?:data|stringData)(?:\.|$)/.test(path)
  return found.map((field) => (isHidden(field) ? { path: field.path, before: undefined, after: undefined } : field))
}

function* differences(path: string, before: unknown, after: unknown): Generator<ChangedField> {
  const [old, young] = [membersOf(before), membersOf(after)]
  if (old && young && old.isList === young.isList) {
    for (const name of new Set([...old.members.keys(), ...young.members.keys()])) {
      const at = old.isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
      yield* differences(at, old.members.get(name), young.members.get(name))
    }
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    yield { path, before: textOf(before), after: textOf(after) }
  }
}

interface Members {
  readonly isList: boolean
  readonly members: ReadonlyMap<string, unknown>
}

/** Items of lists have their names as keys if each has another one. */
function membersOf(value: unknown): Members | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Array.isArray(value)) return { isList: false, members: new Map(Object.entries(value)) }
  const names = value.map((item: unknown) => String(Object(item).name ?? ''))
  const isNamed = !names.includes('') && new Set(names).size === names.length
  return {
    isList: true,
    members: new Map(value.map((item, index) => [isNamed ? (names[index] ?? '') : `${index}`, item])),
  }
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))
