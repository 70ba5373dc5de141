import { everyOne } from '../../lib/every-one.ts'
import { type Kube, KubeError } from './client/index.ts'
import { type Right, rights } from './rights.ts'

/**
 * Leaves out optional rights on resources that a cluster lacks: no role could name them.
 * `resources` has each one as `group/resource`. All rights are asked for without it. Pure.
 */
export const rightsWith = (resources: ReadonlySet<string> | undefined): readonly Right[] =>
  rights.filter((right) => !isExtra(right) || resources?.has(keyOf(right)) !== false)

/**
 * Returns those resources with optional rights that a cluster has at this moment, as
 * `group/resource`. A cluster also lists a group whose program is away, and then it knows none of
 * its resources. Undefined if the cluster does not tell.
 */
export async function resourcesOf(
  kube: Pick<Kube, 'raw'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  const asked = new Set(rights.filter(isExtra).map(({ group }) => group))
  const listed = await listOf(kube, '/apis', 'groups', signal)
  if (!listed) return undefined
  const versions = listed.flatMap((one) => {
    const { name, versions: all } = Object(one)
    if (!asked.has(name) || !Array.isArray(all)) return []
    return all.map((version) => ({ group: String(name), path: `/apis/${Object(version).groupVersion}` }))
  })
  const found = await everyOne(
    versions.map(async ({ group, path }) => {
      const resources = await listOf(kube, path, 'resources', signal)
      return resources?.map((one) => keyOf({ group, resource: String(Object(one).name) }))
    }),
  )
  return found.includes(undefined) ? undefined : new Set(found.flatMap((keys) => keys ?? []))
}

const isExtra = ({ group, isOptional }: Right): boolean => isOptional !== undefined && group !== ''
const keyOf = ({ group, resource }: Pick<Right, 'group' | 'resource'>): string => `${group}/${resource}`

/**
 * Returns a list of a document of the API, which is empty if the part of the API is missing or its
 * program is away. Undefined if the cluster does not tell.
 */
async function listOf(
  kube: Pick<Kube, 'raw'>,
  path: string,
  name: 'groups' | 'resources',
  signal: AbortSignal,
): Promise<readonly unknown[] | undefined> {
  try {
    const list: unknown = Object(await kube.raw(path, signal))[name]
    return Array.isArray(list) ? list : undefined
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    return error.status === 404 || error.status >= 500 ? [] : undefined
  }
}
