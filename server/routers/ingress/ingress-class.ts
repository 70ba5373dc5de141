import { printable } from '../../lib/text.ts'
import type { KubeKind, KubeObjects } from './kube-objects.ts'
import { type Controller, controllerOf } from './rule-mapping.ts'

/** The class of the router's Ingresses, and the controller behind it. */
export interface IngressClass {
  readonly ingressClass: string
  readonly controller: Controller
}

/** An IngressClass of a cluster, as far as the router reads it. */
interface ClassObject {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec?: { readonly controller?: string }
}

const isDefaultClass = 'ingressclass.kubernetes.io/is-default-class'
const kind: KubeKind = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  isNamespaced: false,
}

/** Returns the class of a cluster that carries its traffic. Undefined if it has none. */
export async function findIngressClass(
  kube: KubeObjects,
  wished: string | undefined,
  signal: AbortSignal,
): Promise<IngressClass | undefined> {
  const { items } = await kube.list(kind, { labels: {} }, signal)
  // The objects of this path are IngressClasses.
  return chooseClass(items as readonly ClassObject[], wished)
}

/**
 * Returns the wished class, or else the default one, or else the first by name whose controller the
 * platform knows, or else the first. Pure.
 */
export function chooseClass(classes: readonly ClassObject[], wished: string | undefined): IngressClass | undefined {
  const sorted = classes.toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name))
  const chosen =
    wished === undefined
      ? (sorted.find(({ metadata }) => metadata.annotations?.[isDefaultClass] === 'true') ??
        sorted.find(({ spec }) => controllerOf(spec?.controller) !== 'other') ??
        sorted[0])
      : sorted.find(({ metadata }) => metadata.name === wished)
  return chosen && { ingressClass: chosen.metadata.name, controller: controllerOf(chosen.spec?.controller) }
}

/** Says that rules do not act with the controller of a class, and what mends it. */
export const otherControllerText = (ingressClass: string): string =>
  printable(
    `The controller of its ingress class "${ingressClass}" is not Traefik. Requests reach services, but the ` +
      'platform writes rules only for Traefik and for its own router. A service that changes its settings ' +
      'network.ingress.* or network.gateway_api.* is refused, and one with limited networks or passwords gets no ' +
      "requests. To use rules, install Traefik, or have the operator choose the platform's own router: " +
      'QUAYSIDE_CLUSTER_ROUTER_IMAGE, and QUAYSIDE_CLUSTER_INGRESS_CLASS with a name that no class has.',
  )

/** Says that a cluster has no class for the traffic of its services, and what mends it. */
export const noClassText = (wished: string | undefined): string =>
  wished === undefined
    ? 'It has no ingress class, so no request reaches its services. Install an ingress controller: ' +
      'helm install traefik traefik --repo https://traefik.github.io/charts -n traefik --create-namespace. ' +
      "Or ask the operator of the platform to set QUAYSIDE_CLUSTER_ROUTER_IMAGE, for the platform's own router."
    : `It has no ingress class "${wished}", so no request reaches its services. Compare: kubectl get ingressclass`
