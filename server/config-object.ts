import type { Issuer } from './access/index.ts'
import type { AuthoritySettings, PublicRouterPorts, RouterTlsSettings } from './config-tls.ts'
import type { ClusterBuilderSettings } from './engines/index.ts'
import type { LogFormat } from './lib/log.ts'
import type { CreationLimits } from './limits/index.ts'
import type { PodRouterSettings } from './routers/index.ts'
import type { RunnerImages } from './stacks/index.ts'

/** All settings of the environment, read once. */
export interface Config {
  readonly dataDirectory: string
  /** Whether several servers of one database use the data directory at the same time. */
  readonly isDataShared: boolean
  /** The directory for files of this process alone, which the next start may delete. */
  readonly scratchDirectory: string
  readonly host: string
  readonly port: number
  /** Without a trailing slash. */
  readonly publicUrl: string
  readonly routerHost: string
  readonly routerPort: number
  /**
   * The port of HTTPS, and the authority that makes certificates. Undefined: the router speaks HTTP
   * only.
   */
  readonly routerTls: RouterTlsSettings | undefined
  readonly publicRouterPorts: PublicRouterPorts
  /**
   * The name at which the router leads to the API, the console and the git host. Undefined: it does
   * not.
   */
  readonly platformHost: string | undefined
  /** Networks of proxies whose `X-Forwarded-*` headers the API trusts. */
  readonly apiProxies: readonly string[]
  /** The same for the router, and for the API as well. */
  readonly trustedProxies: readonly string[]
  /** Networks of proxies whose connections to the router begin with a PROXY header. */
  readonly proxyProtocol: readonly string[]
  /** The program HAProxy in front of the router. Undefined: the router serves clients itself. */
  readonly haproxy: string | undefined
  /** Whether HAProxy serves HTTP/3 too, if it can. */
  readonly http3: boolean
  /** Limits of client connections at each port of the router, in total and per client. */
  readonly routerConnections: { readonly total: number; readonly perClient: number }
  readonly domain: string
  /** Whether a custom domain must be proven in DNS before it gets traffic. */
  readonly domainProof: 'required' | 'waived'
  /**
   * `address` or `address:port` of the name servers for custom domains. If empty, the machine's own
   * are used.
   */
  readonly nameServers: readonly string[]
  /** Ports of this machine on which databases may be published. */
  readonly publicPorts: { readonly first: number; readonly last: number }
  /** Undefined means the embedded PostgreSQL. */
  readonly databaseUrl: string | undefined
  /** Whether a snapshot of the database is required before migrations. */
  readonly snapshots: boolean
  /** Undefined: without a Docker Engine, only connected clusters run services. */
  readonly dockerSocket: string | undefined
  /** Hosts and networks of registries without TLS. With a Docker Engine its settings count. */
  readonly insecureRegistries: readonly string[]
  readonly masterKeyFile: string
  readonly tokenPepperFile: string
  /** How long a server that stops in order answers requests. */
  readonly leaveSeconds: number
  /** The people who may create organizations: all, or administrators of the first one. */
  readonly founders: 'everyone' | 'operator'
  /** Requests a second, and at once, of one token. */
  readonly rateLimit: number
  readonly rateBurst: number
  /** The same for all tokens of an organization together. */
  readonly organizationRateLimit: number
  readonly organizationRateBurst: number
  /** Open streams at the same time, of one token or account and of one organization. */
  readonly streamLimits: { readonly perCaller: number; readonly perOrganization: number }
  readonly creationLimits: CreationLimits
  readonly allowPrivateTargets: readonly string[]
  /**
   * The repository `host/path` from which connected clusters take images; undefined: clusters run
   * none. The password is in a file.
   */
  readonly clusterRegistry:
    | { readonly repository: string; readonly username?: string; readonly passwordFile?: string }
    | undefined
  /**
   * The cluster that is reached by the service account of the server's own pod: its id, the address
   * of the API server, and the directory of the token.
   */
  readonly inCluster: { readonly clusterId: string; readonly server: string; readonly directory: string } | undefined
  /** The class of Ingresses on connected clusters. Undefined: the default one of each cluster. */
  readonly clusterIngressClass: string | undefined
  /**
   * Our router in connected clusters that have a domain of their own and no ingress controller.
   * Undefined: they have none.
   */
  readonly clusterRouter: PodRouterSettings | undefined
  /** The authority of certificates for it. Undefined: it speaks HTTP only. */
  readonly clusterTls: AuthoritySettings | undefined
  /** The builder in connected clusters, without a Docker Engine. Undefined: they build nothing. */
  readonly clusterBuilder: ClusterBuilderSettings | undefined
  /** The type of the Services that open TCP and UDP ports on connected clusters. */
  readonly clusterPorts: 'LoadBalancer' | 'NodePort'
  /** An image with a shell, GNU tar and `head`, as connected clusters name it. */
  readonly clusterToolsImage: string
  /** The program Helm: a path, or a name that is looked up in the usual directories of programs. */
  readonly helm: string
  readonly issuers: readonly Issuer[]
  /** Origins of web pages that may use the API from a browser, as `https://app.example.org`. */
  readonly corsOrigins: readonly string[]
  /** Limits of one build step: thousandths of a core, and memory. */
  readonly buildCpuMilli: number
  readonly buildMemoryMiB: number
  /** Builds that run at the same time, and services that start at the same time. */
  readonly parallelBuilds: number
  readonly parallelDeployments: number
  /** Deployments, runs and copies that are in progress at the same time and do not only wait. */
  readonly parallelWork: number
  /** The size limit of an image. */
  readonly imageSizeGiB: number
  /**
   * Free space that builds leave on the disk of the engine. Undefined means a twentieth, at most
   * 10.
   */
  readonly diskFloorGiB: number | undefined
  /** The image of BuildKit that builds on a Docker Engine. Undefined: a usual one. */
  readonly builderImage: string | undefined
  /** The network of build steps: the engine's default one, or none. */
  readonly buildNetwork: 'default' | 'none'
  /** Whether containers and build steps can reach the metadata service of a cloud. */
  readonly cloudMetadata: 'closed' | 'open'
  /**
   * Ports of this machine that containers and build steps can reach, in addition to the platform's
   * own. `open` means all of them.
   */
  readonly hostAccess: 'open' | readonly { first: number; last: number; protocol: 'tcp' | 'udp' }[]
  /** The disk budget of images, caches, volumes and lines. Undefined means half of the disk. */
  readonly diskBudgetGiB: number | undefined
  /** The disk limit of an organization. 0 means no limit, undefined half of the disk. */
  readonly organizationDiskGiB: number | undefined
  /** What a replica may write outside of its volumes. */
  readonly layerGiB: number
  /** The images in which Terraform stacks run, by engine and version. */
  readonly runnerImages: RunnerImages
  /** The size limit of a repository of the git host, and of all repositories of an organization. */
  readonly repositorySizeGiB: number
  readonly organizationRepositoriesGiB: number
  /** How long logs of deployments are kept. The newest of each environment is kept longer. */
  readonly deploymentLogDays: number
  /** Days that events and deliveries of webhooks are kept. The ones that the API lists stay. */
  readonly webhookDays: number
  /** How long the audit log is kept. Undefined means as long as each organization sets. */
  readonly auditDays: number | undefined
  /** How long containers may be paused while their volumes are copied. */
  readonly copySeconds: number
  readonly logLevel: string
  /** Undefined means text if standard error is a terminal, else JSON. */
  readonly logFormat: LogFormat | undefined
  readonly failpoint: string | undefined
}
