import { EngineError } from '../engine.ts'
import { type KubeObject, kindOf } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { label } from './labels.ts'

/**
 * Applies an object. Throws EngineError('refused') if one of its name belongs to somebody else,
 * which is left alone.
 */
export async function applyOwn<T extends KubeObject>(
  { kube, instance }: Pick<KubeHost, 'kube' | 'instance'>,
  object: T,
  signal: AbortSignal,
): Promise<T> {
  refuseForeign(instance, await kube.get(kindOf(object), object.metadata, signal))
  return kube.apply(object, signal)
}

/** Throws EngineError('refused') if an object exists and is not of this installation. */
export function refuseForeign(instance: string, found: KubeObject | undefined): void {
  if (!found || found.metadata.labels?.[label.instance] === instance) return
  const { kind, metadata } = found
  const place = metadata.namespace === undefined ? 'of the cluster' : `in the namespace ${metadata.namespace}`
  throw new EngineError(
    'refused',
    `the ${kind} ${metadata.name} ${place} belongs to somebody else: it lacks the label ${label.instance} of this ` +
      'installation; remove or rename it',
  )
}
