import type { RenderedObject } from '../../engine.ts'
import { pullSecretName } from '../pull-secret.ts'
import { accountPrefix, isGranted } from './chart-account.ts'
import { refusalOfAccount } from './check-account.ts'
import { refusalOfRole } from './check-role.ts'
import { refusalOfTraffic } from './check-service.ts'
import type { ClusterKinds } from './cluster-kinds.ts'

/** The rules for the objects of a chart. */
export interface ObjectRules {
  readonly kinds: ClusterKinds
  readonly namespace: string
  readonly isClusterWide: boolean
}

/**
 * Returns the objects that are to be installed: CRDs of the chart that the cluster already has are
 * left out. Pure.
 */
export const withoutKnownKinds = (
  objects: readonly RenderedObject[],
  { isNamespaced }: ClusterKinds,
): readonly RenderedObject[] =>
  objects.filter((object) => {
    const defined = definedKinds(object)
    return defined.length === 0 || !defined.every((kind) => isNamespaced.has(kind))
  })

interface CheckRules extends ObjectRules {
  /** The names of the Secrets and of the service accounts of the chart. */
  readonly secrets: ReadonlySet<string>
  readonly accounts: ReadonlySet<string>
}

/** Returns why the first object that may not be created may not. Undefined if all may. Pure. */
export function refusalOfObjects(objects: readonly RenderedObject[], rules: ObjectRules): string | undefined {
  const defined = new Set(objects.flatMap(definedKinds))
  const namesOf = (wanted: string) =>
    new Set(objects.filter(({ kind }) => kind === wanted).map(({ metadata }) => metadata.name))
  const own = { secrets: namesOf('Secret'), accounts: namesOf('ServiceAccount') }
  const seen = new Set<string>()
  for (const object of objects) {
    const key = `${nameOf(object)} ${object.metadata.namespace ?? ''}`
    const why = seen.has(key)
      ? 'is rendered twice; give one of them another name'
      : refusalOf(object, defined, { ...rules, ...own })
    if (why) return `${nameOf(object)} ${why}`
    seen.add(key)
  }
  return undefined
}

const nameOf = ({ kind, metadata }: RenderedObject): string => `${kind} "${metadata.name}"`

function refusalOf(object: RenderedObject, defined: ReadonlySet<string>, rules: CheckRules): string | undefined {
  const { apiVersion, kind, metadata } = object
  const isNamespaced = rules.kinds.isNamespaced.get(`${apiVersion}/${kind}`)
  if (isNamespaced === undefined && !defined.has(`${apiVersion}/${kind}`)) {
    return `is of a kind of ${apiVersion} that the cluster does not have; install its CustomResourceDefinition first`
  }
  if (rules.isClusterWide) return undefined
  const advice = 'set allow_cluster_wide_resources to true if you trust the chart'
  if (!isNamespaced) return `is an object of the whole cluster; ${advice}, or turn it off in its values`
  if (metadata.namespace !== undefined && metadata.namespace !== rules.namespace) {
    return `is in the namespace "${metadata.namespace}", and not in that of its environment; ${advice}`
  }
  const traffic = refusalOfTraffic(object)
  if (traffic !== undefined) return traffic
  if (!isGranted(object)) return `is of a kind that decides about others; turn it off in its values, or ${advice}`
  return refusalOfContent(object) ?? refusalOfRole(object, rules.secrets) ?? refusalOfAccount(object, rules.accounts)
}

/** Names of the platform in the namespace, which charts must not use. */
function refusalOfContent(object: RenderedObject): string | undefined {
  const text = JSON.stringify(object)
  const [used] = [pullSecretName, accountPrefix].filter((name) => text.includes(`"${name}`))
  return used === undefined ? undefined : `uses the name "${used}", which belongs to the platform; use another name`
}

/** The kinds that an object defines, if it is a CustomResourceDefinition. */
function definedKinds(object: RenderedObject): string[] {
  if (object.kind !== 'CustomResourceDefinition') return []
  const { group, names, versions } = Object(object['spec'])
  const kind = Object(names).kind
  return Array.isArray(versions) ? versions.map((version) => `${group}/${Object(version).name}/${kind}`) : []
}
