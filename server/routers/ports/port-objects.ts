import type { Route, RoutePort } from '@quayside/contract/routes.ts'
import { digest } from '../ingress/digest.ts'
import { ownerAnnotation, type Pods } from '../ingress/ingress-objects.ts'
import { type KubeObject, routeKinds } from '../ingress/kube-objects.ts'

/** How a cluster opens TCP and UDP ports: the type of their Services. */
export type PortType = 'LoadBalancer' | 'NodePort'

/** The values on which the objects of ports depend, in addition to the table. */
export interface PortSetting {
  /** Labels of every object of ports and of no other one: what no port needs is removed. */
  readonly labels: Readonly<Record<string, string>>
  readonly portType: PortType
  /** Returns where the replicas of a release are, and the labels of their pods. */
  readonly podsOf: (replicas: NonNullable<Route['replicas']> & { readonly service: string }) => Pods
}

/** A route of a TCP or UDP port. */
export type PortRoute = Route & { readonly listen: RoutePort }

/** Returns the routes of TCP and UDP ports. */
export const portRoutes = (routes: readonly Route[]): readonly PortRoute[] =>
  routes.flatMap(({ listen, ...route }) => (listen ? [{ ...route, listen }] : []))

/** Returns the name of a port's objects. Ports of the table belong to one service each. */
export const portName = ({ service, listen: { protocol, port } }: PortRoute): string =>
  `port-${digest(service)}-${protocol.toLowerCase()}-${port}`

/**
 * Returns the objects that open TCP and UDP ports: for each a Service whose selector follows the
 * release with the traffic, and a network rule that lets everybody reach its pods at that port. A
 * port that leads nowhere keeps the Service that it has, so that its address outlives a stop, and
 * gets none otherwise. Nothing of a user is in a Service except the port of the program. Pure.
 */
export function portObjects(
  routes: readonly Route[],
  setting: PortSetting,
  found: readonly KubeObject[],
): readonly KubeObject[] {
  return portRoutes(routes).flatMap((route) => {
    const { endpoints, replicas } = route
    const [endpoint] = endpoints
    if (!endpoint || !replicas || refusalOf(route) !== undefined) return idleService(route, setting, found)
    const pods = setting.podsOf({ ...replicas, service: route.service })
    const { port } = endpoint
    return [
      policyOf(route, setting, { ...pods, port }),
      serviceOf(route, setting, { namespace: pods.namespace, selector: pods.labels, targetPort: port }),
    ]
  })
}

/** Returns why a port with endpoints leads nowhere. Undefined if it leads to them. Pure. */
export function refusalOf({ endpoints, rules = {} }: PortRoute): string | undefined {
  const [rule] = (['allow', 'deny'] as const).filter((one) => rules[one] !== undefined)
  if (rule === undefined || endpoints.length === 0) return undefined
  return `its rule ${rule} cannot be applied: a cluster does not see the addresses of clients of TCP and UDP ports`
}

/** The Service of a port that leads nowhere, without pods. */
function idleService(route: PortRoute, setting: PortSetting, found: readonly KubeObject[]): readonly KubeObject[] {
  const name = portName(route)
  const former = found.find(({ kind, metadata }) => kind === routeKinds.service.kind && metadata.name === name)
  const namespace = former?.metadata.namespace
  if (namespace === undefined) return []
  // No pod has the labels of the router's own objects.
  return [serviceOf(route, setting, { namespace, selector: setting.labels, targetPort: route.listen.port })]
}

interface Target {
  readonly namespace: string
  readonly selector: Readonly<Record<string, string>>
  readonly targetPort: number
}

/**
 * The Service of a port. Its port is one of the platform's range, which no other service of the
 * installation has: some load balancers open the ports of all Services at the same address.
 */
function serviceOf(
  route: PortRoute,
  { labels, portType }: PortSetting,
  { namespace, selector, targetPort }: Target,
): KubeObject {
  const { apiVersion, kind } = routeKinds.service
  const { protocol, port } = route.listen
  const metadata = metadataOf(route, namespace, labels)
  const ports = [{ name: 'public', protocol, port, targetPort }]
  const service = { apiVersion, kind, metadata, spec: { type: portType, selector, ports } }
  return service
}

/** Addresses of clients are those of nodes or outside of the cluster, which isolation rejects. */
function policyOf(
  route: PortRoute,
  { labels }: PortSetting,
  pods: { readonly namespace: string; readonly labels: Readonly<Record<string, string>>; readonly port: number },
): KubeObject {
  const { apiVersion, kind } = routeKinds.networkPolicy
  const metadata = metadataOf(route, pods.namespace, labels)
  const ingress = [{ ports: [{ protocol: route.listen.protocol, port: pods.port }] }]
  const policy = {
    apiVersion,
    kind,
    metadata,
    spec: { podSelector: { matchLabels: pods.labels }, policyTypes: ['Ingress'], ingress },
  }
  return policy
}

const metadataOf = (route: PortRoute, namespace: string, labels: KubeObject['metadata']['labels'] = {}) => ({
  name: portName(route),
  namespace,
  labels,
  annotations: { [ownerAnnotation]: route.service },
})
