import { keyOf } from './ingress-objects.ts'
import type { KubeObject } from './kube-objects.ts'

/** What this process applied: the object as text, and the version that it got. */
export interface Applied {
  readonly text: string
  readonly version: string | undefined
}

/** The changes that turn the objects of a cluster into the desired ones, in this order. */
export interface Changes {
  /** Ingresses whose host and path another namespace gets. Some controllers refuse a second one. */
  readonly moving: readonly KubeObject[]
  readonly apply: readonly KubeObject[]
  /** Objects that nothing needs, each before those to which it refers. */
  readonly remove: readonly KubeObject[]
  /**
   * Whether an Ingress with requests gets to refer to a new object. A controller that knows the
   * Ingress and not the object answers 404.
   */
  readonly isSwitching: boolean
}

/**
 * Compares the objects on a cluster with the desired ones. One that this process has applied, and
 * nobody has changed since, is left alone. Objects to which Ingresses refer are only removed if the
 * controller knows all Ingresses as they are, and a later call removes them otherwise. Pure.
 */
export function planChanges(
  found: readonly KubeObject[],
  desired: readonly KubeObject[],
  applied: ReadonlyMap<string, Applied>,
  isKnown: boolean,
): Changes {
  const present = new Map(found.map((object) => [keyOf(object), object]))
  const kept = new Set(desired.map(keyOf))
  const names = new Set(desired.filter(isIngress).map(({ metadata }) => metadata.name))
  const left = found.filter((object) => !kept.has(keyOf(object)))
  const isMoving = (object: KubeObject): boolean => isIngress(object) && names.has(object.metadata.name)
  const moving = left.filter(isMoving)
  const apply = desired.filter((object) => {
    const last = applied.get(keyOf(object))
    const version = present.get(keyOf(object))?.metadata.resourceVersion
    return last === undefined || version === undefined || last.version !== version || last.text !== textOf(object)
  })
  const leaving = left.filter((object) => !isMoving(object)).toReversed()
  const isQuiet = isKnown && ![...moving, ...apply, ...leaving].some(isIngress)
  const isPresent = (object: KubeObject): boolean => present.has(keyOf(object))
  return {
    moving,
    apply,
    remove: isQuiet ? leaving : leaving.filter(isIngress),
    isSwitching:
      apply.some((object) => isIngress(object) && isPresent(object)) &&
      apply.some((object) => !isIngress(object) && !isPresent(object)),
  }
}

export const textOf = (object: KubeObject): string => JSON.stringify(object)

export const isIngress = ({ kind }: KubeObject): boolean => kind === 'Ingress'
