import { isKubeError, type Kind, type Kube, type KubeObject, kinds, type Selection } from './client/index.ts'

/** Kinds that a cluster may lack, or whose rights are optional. */
const optional: readonly Kind[] = [
  kinds.resourceQuota,
  kinds.limitRange,
  kinds.autoscaler,
  kinds.scaledObject,
  kinds.triggerAuthentication,
]

export const isOptional = (kind: Kind): boolean => optional.includes(kind)

/** Lists objects. A cluster without an optional kind, or without the right to it, has none. */
export async function listOptional(
  { list }: Pick<Kube, 'list'>,
  kind: Kind,
  selection: Selection,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  try {
    return (await list(kind, selection, signal)).items
  } catch (error) {
    if (isOptional(kind) && isKubeError(error, 403, 404)) return []
    throw error
  }
}
