import { isServed, type Route, type RouteRules } from '@quayside/contract/routes.ts'
import { copyOf, type FoundCertificate } from './certificate-objects.ts'
import { digest } from './digest.ts'
import type { IngressClass } from './ingress-class.ts'
import { type KubeObject, routeKinds } from './kube-objects.ts'
import { pathsOf } from './route-paths.ts'
import { isIndispensable, mapRules, type RuleMapping, type RuleSetting } from './rule-mapping.ts'

/** The values on which the objects of a table depend, in addition to the table. */
export interface IngressSetting extends IngressClass {
  /** Whether the cluster has the kinds Middleware and ServersTransport of Traefik. */
  readonly hasTraefikKinds: boolean
  /** Labels of every object of the router and of no other one: it removes what no route needs. */
  readonly labels: Readonly<Record<string, string>>
  /** The namespace of routes that lead nowhere. */
  readonly idleNamespace: string
  /** The certificates of hosts with TLS. */
  readonly certificates: ReadonlyMap<string, FoundCertificate>
  /** The default rules. A controller that cannot apply them refuses no route. */
  readonly usual: RouteRules
  /** Returns where the replicas of a release are, and the labels of their pods. */
  readonly podsOf: (replicas: NonNullable<Route['replicas']> & { readonly service: string }) => Pods
}

export interface Pods {
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
}

/** The id of the service to which an object of the router belongs, in an annotation. */
export const ownerAnnotation = 'quayside.io/route-of'
const idle = 'route-idle'
/** The port of Services without pods. No request reaches it. */
const idlePort = 80

/**
 * Returns the objects that carry a table: an Ingress for each route, and a Service for each port of
 * a service that selects the pods of the release with the traffic. A route leads nowhere if it has
 * no endpoints, or a rule that protects it cannot be applied: its Service has no pods, so the
 * controller answers 503. Objects come before those that refer to them. Pure.
 */
export function ingressObjects(routes: readonly Route[], setting: IngressSetting): readonly KubeObject[] {
  const found = new Map<string, KubeObject>()
  for (const object of routes.flatMap((route) => routeObjects(route, setting))) {
    // Routes of one port share a Service, whose first description counts.
    if (!found.has(keyOf(object))) found.set(keyOf(object), object)
  }
  const order = Object.values(routeKinds).map(({ kind }) => kind as string)
  return [...found.values()].toSorted((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
}

/** Identifies an object on its cluster. */
export const keyOf = ({ kind, metadata: { namespace = '', name } }: KubeObject): string =>
  `${kind} ${namespace}/${name}`

/** Returns why a route gets no requests although it has endpoints. Undefined if it gets them. */
export function heldBack(route: Route, setting: IngressSetting): string | undefined {
  if (route.endpoints.length === 0 || !route.replicas) return undefined
  const lost = ruled(route, route.replicas, setting).mapping.unsupported.find(isIndispensable)
  return lost && `its rule ${lost.rule} cannot be applied: ${lost.reason}`
}

function routeObjects(route: Route, setting: IngressSetting): readonly KubeObject[] {
  const { endpoints, replicas } = route
  const [endpoint] = endpoints
  if (!endpoint || !replicas || heldBack(route, setting) !== undefined) return idleObjects(route, setting)
  const { port } = endpoint
  const { mapping, place, pods, tls } = ruled(route, replicas, setting)
  const annotations = { [ownerAnnotation]: route.service }
  const metadata = { namespace: pods.namespace, labels: setting.labels }
  return [
    ...tls.copies.map((object) => ({ ...object, metadata: { ...object.metadata, annotations } })),
    ...mapping.objects.map((object) => ({ ...object, metadata: { ...object.metadata, annotations } })),
    serviceOf({ ...metadata, name: place.service, annotations: { ...annotations, ...mapping.service } }, port, pods),
    ingressOf(route, { ...mapping, ...tls }, setting, { ...metadata, name: place.name }, { name: place.service, port }),
  ]
}

/** The part of an Ingress that names the certificate of its host, and the copy of the Secret. */
interface IngressTls {
  readonly spec: { readonly tls?: readonly object[] }
  readonly copies: readonly KubeObject[]
}

/** An Ingress finds its Secret only in its own namespace. */
function tlsOf({ host, tls }: Route, namespace: string, { certificates, labels }: IngressSetting): IngressTls {
  const found = tls && certificates.get(host)
  if (!found || !isServed(found)) return { spec: {}, copies: [] }
  const copies = found.pair ? [copyOf(found.pair, { namespace, labels })] : []
  const [copy] = copies
  return { spec: { tls: [{ hosts: [host], ...(copy && { secretName: copy.metadata.name }) }] }, copies }
}

/** Maps the rules of a route that has endpoints. */
function ruled(
  route: Route,
  replicas: NonNullable<Route['replicas']>,
  setting: IngressSetting,
): { readonly mapping: RuleMapping; readonly place: RuleSetting; readonly pods: Pods; readonly tls: IngressTls } {
  const pods = setting.podsOf({ ...replicas, service: route.service })
  const tls = tlsOf(route, pods.namespace, setting)
  const { labels, hasTraefikKinds, controller } = setting
  const port = route.endpoints[0]?.port ?? idlePort
  const place: RuleSetting = {
    namespace: pods.namespace,
    labels,
    hasTraefikKinds,
    redirects: tls.spec.tls && route.tls?.redirects,
    name: nameOf(route),
    service: `route-${digest(replicas.pods ? JSON.stringify([route.service, replicas.pods]) : route.service)}-${port}`,
  }
  return { mapping: mapRules(route, controller, place), place, pods, tls }
}

function idleObjects(route: Route, setting: IngressSetting): readonly KubeObject[] {
  const metadata = { namespace: setting.idleNamespace, labels: setting.labels }
  const bare: Route = { ...route, rules: {} }
  const place: RuleSetting = { ...metadata, hasTraefikKinds: false, name: nameOf(route), service: idle }
  // Only what decides between routes: the rules protect nothing here.
  const { spec, copies } = tlsOf(route, setting.idleNamespace, setting)
  const mapping = { ...mapRules(bare, setting.controller, place), paths: pathsOf(route.path), spec }
  return [
    ...copies,
    serviceOf({ ...metadata, name: idle }, idlePort, undefined),
    ingressOf(route, mapping, setting, { ...metadata, name: place.name }, { name: idle, port: idlePort }),
  ]
}

/** One name for a host and path, wherever the Ingress is. */
const nameOf = ({ host, path = '/' }: Route): string => `route-${digest(host + path)}`

function serviceOf(metadata: KubeObject['metadata'], port: number, pods: Pods | undefined): KubeObject {
  const ports = [{ name: 'http', protocol: 'TCP', port, targetPort: port }]
  const { apiVersion, kind } = routeKinds.service
  const service = { apiVersion, kind, metadata, spec: { ports, ...(pods && { selector: pods.labels }) } }
  return service
}

function ingressOf(
  { host, service }: Route,
  { paths, ingress: annotations, spec }: Pick<RuleMapping, 'paths' | 'ingress'> & Pick<IngressTls, 'spec'>,
  { ingressClass }: IngressSetting,
  metadata: KubeObject['metadata'],
  { name, port }: { readonly name: string; readonly port: number },
): KubeObject {
  const backend = { service: { name, port: { number: port } } }
  const { apiVersion, kind } = routeKinds.ingress
  const http = { paths: paths.map((path) => ({ ...path, backend })) }
  const ingress = {
    apiVersion,
    kind,
    metadata: { ...metadata, annotations: { [ownerAnnotation]: service, ...annotations } },
    spec: { ingressClassName: ingressClass, rules: [{ host, http }], ...spec },
  }
  return ingress
}
