import { masker } from '../../../lib/masker.ts'
import { hiddenField, maskedField } from '../../changed-field.ts'
import type { ChangedField, ChartChange, RenderedObject } from '../../engine.ts'
import { label } from '../labels.ts'
import { differences } from './object-differences.ts'
import { valuesOfSecrets } from './secret-values.ts'

/** More fields of one object are not listed. */
const mostFields = 50

/** The objects of two releases of a chart. `home` is the namespace of those that name none. */
export interface Comparison {
  readonly before: readonly RenderedObject[]
  readonly after: readonly RenderedObject[]
  readonly home: string
}

/**
 * Returns what differs between the objects of two releases of a chart. Values of Secrets are left
 * out, and hidden where other objects repeat them. The label with the release of the platform does
 * not count. Pure; runs in a worker.
 */
export function compareObjects({ before, after, home }: Comparison): readonly ChartChange[] {
  const keyOf = ({ apiVersion, kind, metadata: { name, namespace = home } }: RenderedObject): string =>
    `${apiVersion.split('/', 1)[0]} ${kind} ${namespace} ${name}`
  const old = new Map(before.map((object) => [keyOf(object), object]))
  const young = new Map(after.map((object) => [keyOf(object), object]))
  const mask = masker(valuesOfSecrets([...before, ...after]))
  const changed = after.flatMap((object): ChartChange[] => {
    const former = old.get(keyOf(object))
    const found = fieldsOf(former, object, mask)
    if (former && found.fields.length === 0) return []
    return [{ ...nameOf(object, home), change: former ? 'CHANGE' : 'CREATE', ...found }]
  })
  const gone = before.filter((object) => !young.has(keyOf(object)))
  return [
    ...changed,
    ...gone.map((one): ChartChange => ({ ...nameOf(one, home), change: 'DELETE', fields: [], omitted: 0 })),
  ]
}

const nameOf = ({ apiVersion, kind, metadata: { name, namespace } }: RenderedObject, home: string) => ({
  ...{ apiVersion, kind, name },
  ...(namespace !== undefined && namespace !== home && { namespace }),
})

/** The namespace is part of what identifies an object. */
const ignored = [`metadata.labels.${label.release}`, 'metadata.namespace']
/** What a name says already of an object that is new. */
const known = ['apiVersion', 'kind', 'metadata.name']

function fieldsOf(before: RenderedObject | undefined, after: RenderedObject, mask: (text: string) => string) {
  const skipped = before ? ignored : [...ignored, ...known]
  const found = [...differences('', before, after)].filter(({ path }) => !skipped.includes(path))
  const isValue = ({ path }: ChangedField): boolean =>
    after.kind === 'Secret' && /^(?:data|stringData)(?:\.|$)/.test(path)
  const fields = found
    .slice(0, mostFields)
    .map((field) => (isValue(field) ? hiddenField(field.path) : maskedField(field, mask)))
  return { fields, omitted: found.length - fields.length }
}
