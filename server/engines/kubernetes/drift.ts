import { createHash } from 'node:crypto'
import { fieldManager, type KubeObject, kindOf, type Metadata } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { annotation } from './labels.ts'
import { applyOwn } from './own-objects.ts'

/** What is known of an object from its metadata. */
export interface ObjectState {
  /** Somebody else has taken over or removed fields that the platform applied. */
  readonly isChanged: boolean
  /** The other objects that belong to it, as `Secret/name`. */
  readonly objects: readonly string[]
}

/** More than the platform writes. */
const longestList = 20_000

/** Reads the metadata of an object. Pure. */
export function toObjectState({ metadata }: Pick<KubeObject, 'metadata'>): ObjectState {
  const applied = metadata.annotations?.[annotation.applied]
  const objects = (metadata.annotations?.[annotation.objects] ?? '').slice(0, longestList).split(' ').filter(Boolean)
  // An object of an earlier version of the platform has no such mark.
  return { isChanged: applied !== undefined && applied !== fieldsHash(metadata), objects }
}

/** Returns the words of an annotation that lists objects. Pure. */
export const listedObjects = (objects: readonly KubeObject[]): string =>
  objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(' ')

/**
 * Applies an object as `applyOwn`, and marks it with the fields that the platform owns then. If
 * somebody else changes one of them, the API server gives it to them, and the mark no longer fits.
 */
export async function applyMarked(host: Writing, object: KubeObject, signal: AbortSignal): Promise<void> {
  await mark(host, await applyOwn(host, object, signal), object, signal)
}

type Writing = Pick<KubeHost, 'kube' | 'instance'>

/** Marks an object as it was just applied. */
export async function mark(
  { kube }: Writing,
  { metadata }: Pick<KubeObject, 'metadata'>,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const hash = fieldsHash(metadata)
  if (metadata.annotations?.[annotation.applied] === hash) return
  const change = { metadata: { annotations: { [annotation.applied]: hash } } }
  await kube.patch(kindOf(object), object.metadata, change, signal)
}

/**
 * Returns a hash of the fields that the platform owns by its last apply. The number of replicas is
 * left out: the platform itself changes it for a moment, and observes it in another way.
 */
export function fieldsHash({ managedFields }: Pick<Metadata, 'managedFields'>): string {
  const own = managedFields?.find(({ manager, operation }) => manager === fieldManager && operation === 'Apply')
  const { 'f:spec': spec, ...rest } = Object(own?.fieldsV1)
  const { 'f:replicas': _, ...others } = Object(spec)
  return createHash('sha256')
    .update(sorted({ ...rest, spec: others }))
    .digest('hex')
    .slice(0, 16)
}

function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${sorted(inner)}`).join()}}`
}

/** The objects of one kind, by namespace and name. Undefined: they cannot be seen. */
export type SeenKinds = ReadonlyMap<string, ReadonlyMap<string, ObjectState> | undefined>

/**
 * Whether one of the objects that belong to `owner` is missing or changed, or it is changed itself.
 * Kinds that cannot be seen count as unchanged. Pure.
 */
export const hasDrifted = (owner: ObjectState, namespace: string, seen: SeenKinds): boolean =>
  owner.isChanged ||
  owner.objects.some((name) => {
    const [kind = '', ...rest] = name.split('/')
    const all = seen.get(kind)
    return all !== undefined && all.get(`${namespace}/${rest.join('/')}`)?.isChanged !== false
  })
