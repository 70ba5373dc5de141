import { isIP } from 'node:net'
import type { KubeObject } from '../ingress/kube-objects.ts'
import type { HostAndPort, PortAddress } from '../router.ts'
import { type PortRoute, type PortType, portName } from './port-objects.ts'

/** A Service, as far as the router reads it. Nothing of it is sure: the cluster is a user's. */
interface ServiceObject {
  readonly metadata: KubeObject['metadata']
  readonly spec?: { readonly type?: unknown; readonly ports?: readonly { readonly nodePort?: unknown }[] }
  readonly status?: {
    readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: unknown; readonly hostname?: unknown }[] }
  }
}

/** A node, as far as the router reads it. */
interface NodeObject {
  readonly metadata: KubeObject['metadata']
  readonly status?: {
    readonly addresses?: readonly { readonly type?: unknown; readonly address?: unknown }[]
    readonly conditions?: readonly { readonly type?: unknown; readonly status?: unknown }[]
  }
}

/**
 * Returns where ports with endpoints are reached: at the address that the cluster gave their
 * Service, or at a node. Pure.
 */
export function portAddresses(
  routes: readonly PortRoute[],
  portType: PortType,
  cluster: { readonly services: readonly KubeObject[]; readonly nodes: readonly KubeObject[] },
): readonly PortAddress[] {
  const byName = new Map(cluster.services.map((service) => [service.metadata.name, service]))
  const node = nodeAddress(cluster.nodes)
  return routes
    .filter(({ endpoints }) => endpoints.length > 0)
    .map((route) => {
      const found: ServiceObject | undefined = byName.get(portName(route))
      return { service: route.service, port: route.listen.port, reached: reachedAt(route, portType, found, node) }
    })
}

function reachedAt(
  { listen }: PortRoute,
  portType: PortType,
  service: ServiceObject | undefined,
  node: string | undefined,
): HostAndPort | { readonly reason: string } {
  if (!service) return { reason: 'its Service does not exist yet' }
  if (portType === 'LoadBalancer') {
    const host = balancerHost(service)
    return host === undefined ? { reason: noBalancer } : { host, port: listen.port }
  }
  const port = service.spec?.ports?.[0]?.nodePort
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) {
    return { reason: 'its Service has no port of the nodes yet' }
  }
  return node === undefined ? { reason: 'no node of the cluster is ready and has an address' } : { host: node, port }
}

const noBalancer =
  'the cluster assigned no address to its Service of the type LoadBalancer. Look at `kubectl describe service`, ' +
  'install a load balancer, or ask the operator of the platform to set QUAYSIDE_CLUSTER_PORTS=NodePort'

const hostForm = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/

function balancerHost({ status }: ServiceObject): string | undefined {
  for (const { ip, hostname } of listOf(status?.loadBalancer?.ingress)) {
    if (typeof ip === 'string' && isIP(ip) !== 0) return ip
    if (typeof hostname === 'string' && hostForm.test(hostname)) return hostname
  }
  return undefined
}

const listOf = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : [])

/** The outer address of the first ready node by name that has one, or else an inner address. */
function nodeAddress(nodes: readonly NodeObject[]): string | undefined {
  const ready = nodes
    .filter(({ status }) => listOf(status?.conditions).some((one) => one.type === 'Ready' && one.status === 'True'))
    .toSorted((one, other) => one.metadata.name.localeCompare(other.metadata.name))
  for (const wanted of ['ExternalIP', 'InternalIP']) {
    for (const { status } of ready) {
      const found = listOf(status?.addresses).find(({ type }) => type === wanted)?.address
      if (typeof found === 'string' && isIP(found) !== 0) return found
    }
  }
  return undefined
}
