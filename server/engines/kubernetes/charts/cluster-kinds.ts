import { everyOne } from '../../../lib/every-one.ts'
import type { Kube } from '../client/index.ts'

/** The kinds of a cluster, as `apiVersion/kind`, and whether their objects have a namespace. */
export interface ClusterKinds {
  readonly version: string
  /** Every `group/version`. */
  readonly apiVersions: readonly string[]
  readonly isNamespaced: ReadonlyMap<string, boolean>
}

/** Asks a cluster for its kinds. Throws KubeError. */
export async function readKinds(kube: Pick<Kube, 'raw' | 'version'>, signal: AbortSignal): Promise<ClusterKinds> {
  const [version, groups] = await Promise.all([kube.version(signal), kube.raw('/apis', signal)])
  const listed = listOf(groups, 'groups').flatMap((group) => listOf(group, 'versions'))
  const apiVersions = ['v1', ...listed.map((one) => String(Object(one).groupVersion))]
  const found = await everyOne(
    apiVersions.map(async (apiVersion) => {
      const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
      // An API of an extension that does not answer has no kinds at the moment.
      const answer = await kube.raw(path, signal).catch(() => ({}))
      return listOf(answer, 'resources').map((one) => {
        const { kind, namespaced } = Object(one)
        return [`${apiVersion}/${kind}`, namespaced === true] as const
      })
    }),
  )
  signal.throwIfAborted()
  return { version: version.text, apiVersions, isNamespaced: new Map(found.flat()) }
}

const listOf = (value: unknown, name: string): readonly unknown[] => {
  const list: unknown = Object(value)[name]
  return Array.isArray(list) ? list : []
}
