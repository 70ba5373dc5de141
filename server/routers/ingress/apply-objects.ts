import { AppError, messageOf } from '../../lib/error.ts'
import { everyOne } from '../../lib/every-one.ts'
import { createSlots } from '../../lib/slots.ts'
import { type IngressSetting, keyOf, ownerAnnotation } from './ingress-objects.ts'
import {
  type KubeKind,
  type KubeObject,
  type KubeObjects,
  namespaceKind,
  routeKinds,
  statusOf,
} from './kube-objects.ts'
import { type Applied, type Changes, isIngress, textOf } from './plan-changes.ts'

type Setting = Pick<IngressSetting, 'labels' | 'controller'>
type NamespaceSetting = Pick<IngressSetting, 'labels' | 'idleNamespace'>

/** Requests to the API server at the same time. */
const atOnce = 8

/** Finds the objects of the router, and whether the cluster has the kinds of Traefik. */
export async function findObjects(
  kube: KubeObjects,
  { labels, controller }: Setting,
  signal: AbortSignal,
): Promise<{ readonly found: readonly KubeObject[]; readonly hasTraefikKinds: boolean }> {
  const { middleware, serversTransport, ...usual } = routeKinds
  const list = async (kind: KubeKind) => (await kube.list(kind, { labels }, signal)).items.map(named(kind))
  const optional = async (kind: KubeKind) => {
    try {
      return await list(kind)
    } catch (error) {
      if (statusOf(error) === 404) return undefined
      throw error
    }
  }
  const traefik = controller === 'traefik' ? [middleware, serversTransport] : []
  const [own, extra] = await Promise.all([
    Promise.all(Object.values(usual).map(list)),
    Promise.all(traefik.map(optional)),
  ])
  const hasTraefikKinds = extra.length > 0 && extra.every((items) => items !== undefined)
  const byKind = [...own, ...extra].flatMap((items) => items ?? [])
  const order = Object.values(routeKinds).map(({ kind }) => kind as string)
  return {
    found: byKind.toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind)),
    hasTraefikKinds,
  }
}

/** Objects in a list do not repeat their kind. */
export const named =
  ({ apiVersion, kind }: KubeKind) =>
  (object: KubeObject): KubeObject => ({ ...object, apiVersion, kind })

/** Creates the namespace of routes that lead nowhere. Throws if somebody else has its name. */
export async function ensureNamespace(
  kube: KubeObjects,
  { labels, idleNamespace: name }: NamespaceSetting,
  signal: AbortSignal,
): Promise<void> {
  const { items } = await kube.list(namespaceKind, { labels }, signal)
  if (items.some(({ metadata }) => metadata.name === name)) return
  const { apiVersion, kind } = namespaceKind
  try {
    await kube.create({ apiVersion, kind, metadata: { name, labels } }, signal)
  } catch (error) {
    if (statusOf(error) !== 409) throw error
    const message = `The namespace ${name} of the cluster belongs to somebody else. Remove it.`
    throw new AppError('conflict', message, { cause: error })
  }
}

/** The values with which changes are made. */
export interface Making {
  /** Gets what was applied. */
  readonly applied: Map<string, Applied>
  /** Gets what the API server refused, by the id of the service. */
  readonly refused: Map<string, string>
  /** Waits until the controller knows the objects that were applied. */
  readonly untilKnown: () => Promise<void>
}

/**
 * Makes changes, in their order: Ingresses are the last to be applied and the first to go, because
 * they refer to the others. Throws at once if the API server is away.
 */
export async function applyChanges(
  kube: KubeObjects,
  { moving, apply, remove, isSwitching }: Changes,
  { applied, refused, untilKnown }: Making,
  signal: AbortSignal,
): Promise<void> {
  const slots = createSlots(atOnce)
  const each = (objects: readonly KubeObject[], change: (object: KubeObject) => Promise<unknown>): Promise<unknown> =>
    everyOne(
      objects.map((object) =>
        slots.run(signal, async () => {
          try {
            await change(object)
          } catch (error) {
            if (!isRefusal(error)) throw error
            refused.set(object.metadata.annotations?.[ownerAnnotation] ?? '', reasonOf(object, error))
          }
        }),
      ),
    )
  const end = async (object: KubeObject): Promise<void> => {
    applied.delete(keyOf(object))
    const kind = Object.values(routeKinds).find((one) => one.kind === object.kind)
    if (kind) await kube.remove(kind, object.metadata, signal)
  }
  const put = async (object: KubeObject): Promise<void> => {
    applied.delete(keyOf(object))
    const { metadata } = await kube.apply(object, signal)
    applied.set(keyOf(object), { text: textOf(object), version: metadata.resourceVersion })
  }
  await each(moving, end)
  await each(
    apply.filter((object) => !isIngress(object)),
    put,
  )
  if (isSwitching) await untilKnown()
  await each(apply.filter(isIngress), put)
  await each(remove.filter(isIngress), end)
  await each(
    remove.filter((object) => !isIngress(object)),
    end,
  )
}

/** Whether the API server has answered, and will not answer otherwise. */
function isRefusal(error: unknown): boolean {
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 && status !== 429
}

function reasonOf({ kind, metadata: { name } }: KubeObject, error: unknown): string {
  return `${kind} ${name}: ${messageOf(error)}`
}

/** The error of a table that did not arrive. The caller tries again. */
export const unreachable = (error: unknown): AppError =>
  new AppError('unavailable', `The cluster did not accept the routes: ${messageOf(error)}.`, { cause: error })
