import type { AnnotationScope } from '@quayside/contract/resources/tag-group.ts'
import { EngineError, type Release, type Workload } from '../engine.ts'
import type { KubeObject } from './client/index.ts'
import { isReserved, splitKey } from './users-labels.ts'

/**
 * Annotations of a reserved domain that only say how a pod may be moved. Nobody but the service
 * itself is concerned.
 */
const harmless: ReadonlySet<string> = new Set(['cluster-autoscaler.kubernetes.io/safe-to-evict'])

/** Kubernetes takes 256 KiB for all annotations of an object. The platform has some of its own. */
const mostBytes = 192 * 1024

/** Objects of a service that the platform does not make, or whose annotations it decides itself. */
const never: Readonly<Partial<Record<AnnotationScope, string>>> = {
  INGRESS: 'an Ingress has the annotations of its rules alone',
  GATEWAY_API_ROUTES: 'the platform makes no routes of the Gateway API',
}

/**
 * Returns the annotations that users chose for objects with one of these scopes. Throws
 * EngineError('refused') for one that a cluster does not take, that means something to a program of
 * the cluster, or whose scope no object has.
 */
export function usersAnnotations(
  { displayName, workload }: Pick<Release<Workload>, 'displayName' | 'workload'>,
  ...scopes: readonly AnnotationScope[]
): Record<string, string> {
  const chosen = workload.annotations ?? {}
  const refuse = (what: string): never => {
    throw new EngineError('refused', `"${displayName}" has ${what}`)
  }
  if (workload.shape === 'long-running') {
    for (const [scope, reason] of Object.entries(never)) {
      if (Object.hasOwn(chosen, scope)) refuse(`annotations with the scope ${scope}, but ${reason}; remove the scope`)
    }
  }
  const entries = scopes.flatMap((scope) => Object.entries(chosen[scope] ?? {}))
  for (const [key] of entries) {
    const split = splitKey(key)
    if (!split || (isReserved(split) && !harmless.has(key))) {
      refuse(`the annotation "${key}", which a cluster does not take; remove it`)
    }
  }
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0)
  if (bytes > mostBytes) refuse(`${bytes} bytes of annotations; an object takes ${mostBytes}`)
  return Object.fromEntries(entries)
}

/** Adds such annotations to metadata. Annotations of the platform with the same key win. */
export function annotated(
  metadata: KubeObject['metadata'],
  users: Readonly<Record<string, string>>,
): KubeObject['metadata'] {
  if (Object.keys(users).length === 0) return metadata
  return { ...metadata, annotations: { ...users, ...metadata.annotations } }
}
