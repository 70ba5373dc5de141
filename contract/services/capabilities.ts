import type { Shape } from './shapes.ts'

/**
 * The capabilities that advanced settings may need, each with the reason to show if an engine lacks
 * it. An engine lists its own in `EngineCapabilities.settings`, which decides which settings work
 * on its cluster.
 */
export const capabilities = {
  'read-only-root': 'the engine of its cluster cannot make the root filesystem read-only',
  'lifecycle-commands': 'the engine of its cluster runs no commands when a replica starts or stops',
  'node-placement': 'the engine of its cluster is one machine: it has no nodes or zones to choose from',
  'service-accounts': 'programs get no service account, so that they cannot act on their cluster',
  'gradual-rollout':
    'all replicas of a new version start beside the previous version, which keeps all of its own until the ' +
    'new one is ready',
  canary:
    "only the platform's router shares requests between two versions, and the ingress controller of its cluster " +
    'carries them',
  'git-submodules':
    'submodules are never fetched: their addresses come from the repository, and their directories stay empty',
  'domain-check': 'no deployment checks custom domains; checkCustomDomain does',
  'proxy-buffers': 'the router passes requests and answers on as they come and keeps no buffers',
  'connections-by-service': 'connections of clients are shared by all services of the router',
  tls: 'only hosts with a certificate are redirected, which is the default',
  'cluster-tls': 'only a cluster of Kubernetes with a domain of its own has certificates for its services',
  aws: 'the cluster is not on AWS',
  'cloud-provider': 'the platform manages no load balancer, registry or storage of a cloud provider',
  loki: 'the platform keeps logs in files of its own, without Loki',
  'nginx-ingress': 'the platform has a router of its own in the place of nginx',
  'gateway-defaults':
    'the router has no timeouts and retries for a whole cluster; set network.gateway_api.* of a service',
  'image-retention':
    'the engine keeps images of the last five versions of each service; a registry has rules of its own',
  'image-mirroring': 'there is one place for images: the engine of the machine, or the registry for connected clusters',
  'database-firewall':
    'ports of databases are not filtered by network; switch off publicly accessible, or filter on the machine',
  'kubernetes-api': 'the platform does not manage access to an API server of Kubernetes',
} as const
export type Capability = keyof typeof capabilities

/** The part of an engine's capabilities that advanced settings depend on. */
export interface Abilities {
  /** The shapes that the engine runs. */
  readonly shapes: ReadonlySet<Shape>
  /** The capabilities that advanced settings may need. Settings that need others are refused. */
  readonly settings: ReadonlySet<Capability>
}
