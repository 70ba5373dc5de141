import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import type { Issuer } from './access/index.ts'
import {
  ConfigError,
  cidrForm,
  clusterBuilder,
  clusterIngressClass,
  clusterRegistry,
  clusterRouter,
  databaseUrl,
  dockerSocket,
  hostAccess,
  inCluster,
  list,
  logFormat,
  nameServerForm,
  number,
  oneOf,
  optionalNumber,
  origins,
  portRange,
  proxyForm,
  publicUrl,
  registryForm,
  runnerImages,
  sharing,
  type Variables,
} from './config-forms.ts'
import { issuers } from './config-issuers.ts'
import { creationLimits } from './config-limits.ts'
import {
  type AuthoritySettings,
  clusterTls,
  ownDoor,
  type PublicRouterPorts,
  publicRouterPorts,
  type RouterTlsSettings,
  routerTls,
  withUsualAddresses,
} from './config-tls.ts'
import type { ClusterBuilderSettings } from './engines/index.ts'
import type { LogFormat } from './lib/log.ts'
import type { CreationLimits } from './limits/index.ts'
import type { PodRouterSettings } from './routers/index.ts'
import type { RunnerImages } from './stacks/index.ts'

export { ConfigError }

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
  readonly rateLimit: number
  readonly rateBurst: number
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
  /** How long the audit log is kept. Undefined means as long as each organization sets. */
  readonly auditDays: number | undefined
  /** How long containers may be paused while their volumes are copied. */
  readonly copySeconds: number
  readonly logLevel: string
  /** Undefined means text if standard error is a terminal, else JSON. */
  readonly logFormat: LogFormat | undefined
  readonly failpoint: string | undefined
}

/** Returns the socket of the Docker Engine. Throws ConfigError if the installation has none. */
export function socketOf({ dockerSocket: socket }: Pick<Config, 'dockerSocket'>): string {
  if (socket !== undefined) return socket
  throw new ConfigError('This needs a Docker Engine. Set QUAYSIDE_DOCKER_HOST to its socket instead of none.')
}

/** All cores of a small machine, because running services come first anyway. */
const usualBuildCpu = (): number => Math.min(4000, availableParallelism() * 1000)

/**
 * All builds together, and the reserved one for another organization, leave half of the memory to
 * running services.
 */
const usualBuildMemory = (parallelBuilds: number): number =>
  Math.max(256, Math.min(4096, Math.floor(totalmem() / 2 ** 20 / 2 / (parallelBuilds + 1))))

/** Names that programs other than the server read. */
const othersSettings = [
  'QUAYSIDE_DEBIAN_MIRROR',
  'QUAYSIDE_OPENTOFU_BINARY',
  'QUAYSIDE_REQUIRE_DOCKER',
  'QUAYSIDE_TERRAFORM_BINARY',
]

/** Pure: returns the names of all settings that the server reads. */
export function readSettings(): ReadonlySet<string> {
  const names = new Set<string>()
  readConfig(new Proxy<Variables>({}, { get: (_, name) => void names.add(String(name)) }))
  return names
}

/** Pure: returns settings that no program reads, such as misspelled ones. */
export function unknownSettings(variables: Variables = process.env): string[] {
  const known = new Set([...othersSettings, ...readSettings()])
  return Object.keys(variables).filter((name) => name.startsWith('QUAYSIDE_') && !known.has(name))
}

/**
 * Reads the environment for commands that report a mistake instead of ending with it. After a
 * mistake it returns the defaults with the data directory of the environment.
 */
export function readConfigOrDefaults(variables: Variables = process.env): {
  readonly config: Config
  readonly problem?: string
} {
  try {
    return { config: readConfig(variables) }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { config: readConfig({ QUAYSIDE_DATA: variables['QUAYSIDE_DATA'] }), problem: error.message }
  }
}

/** Reads and checks the environment. Throws ConfigError with the name of the variable. */
export function readConfig(given: Variables = process.env): Config {
  const variables = withUsualAddresses(given)
  const dataDirectory = resolve(variables['QUAYSIDE_DATA'] || '.quayside')
  const port = number(variables, 'QUAYSIDE_PORT', 3000, 1, 65535)
  const parallelBuilds = number(variables, 'QUAYSIDE_PARALLEL_BUILDS', 2, 1, 100)
  const trustedProxies = list(variables, 'QUAYSIDE_TRUSTED_PROXIES', proxyForm)
  const proxyProtocol = list(variables, 'QUAYSIDE_PROXY_PROTOCOL', proxyForm)
  const routerConnections = {
    total: number(variables, 'QUAYSIDE_ROUTER_CONNECTIONS', 10_000, 10, 1_000_000),
    perClient: number(variables, 'QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT', 1_000, 1, 1_000_000),
  }
  const host = variables['QUAYSIDE_HOST'] || '127.0.0.1'
  const door = {
    routerTls: routerTls(variables),
    publicUrl: publicUrl(variables['QUAYSIDE_PUBLIC_URL'] || `http://localhost:${port}`),
  }
  return Object.freeze({
    dataDirectory,
    ...sharing(variables, { dataDirectory, port }),
    host,
    port,
    ...door,
    ...ownDoor({ ...door, host, trustedProxies }),
    routerHost: variables['QUAYSIDE_ROUTER_HOST'] || '127.0.0.1',
    publicRouterPorts: publicRouterPorts(variables),
    routerPort: number(variables, 'QUAYSIDE_ROUTER_PORT', 8080, 1, 65535),
    trustedProxies,
    proxyProtocol,
    routerConnections,
    haproxy: variables['QUAYSIDE_HAPROXY'] || undefined,
    http3: oneOf(variables, 'QUAYSIDE_HTTP3', ['off', 'on']) === 'on',
    domain: (variables['QUAYSIDE_DOMAIN'] || 'localhost').toLowerCase(),
    domainProof: oneOf(variables, 'QUAYSIDE_DOMAIN_PROOF', ['required', 'waived']),
    nameServers: list(variables, 'QUAYSIDE_NAME_SERVERS', nameServerForm),
    publicPorts: portRange(variables, 'QUAYSIDE_PUBLIC_PORTS', '30000-30999'),
    databaseUrl: databaseUrl(variables['QUAYSIDE_DATABASE_URL']),
    snapshots: oneOf(variables, 'QUAYSIDE_SNAPSHOT', ['required', 'off']) === 'required',
    dockerSocket: dockerSocket(variables['QUAYSIDE_DOCKER_HOST']),
    insecureRegistries: list(variables, 'QUAYSIDE_INSECURE_REGISTRIES', registryForm),
    masterKeyFile: resolve(variables['QUAYSIDE_MASTER_KEY_FILE'] || join(dataDirectory, 'master.key')),
    tokenPepperFile: resolve(variables['QUAYSIDE_TOKEN_PEPPER_FILE'] || join(dataDirectory, 'token.pepper')),
    leaveSeconds: number(variables, 'QUAYSIDE_LEAVE_SECONDS', 0, 0, 300),
    rateLimit: number(variables, 'QUAYSIDE_RATE_LIMIT', 100, 0, 1_000_000),
    rateBurst: number(variables, 'QUAYSIDE_RATE_BURST', 500, 1, 1_000_000),
    streamLimits: {
      perCaller: number(variables, 'QUAYSIDE_STREAMS_PER_CALLER', 20, 1, 1_000_000),
      perOrganization: number(variables, 'QUAYSIDE_STREAMS_PER_ORGANIZATION', 200, 1, 1_000_000),
    },
    creationLimits: creationLimits(variables),
    allowPrivateTargets: list(variables, 'QUAYSIDE_ALLOW_PRIVATE_TARGETS', cidrForm),
    clusterRegistry: clusterRegistry(variables),
    inCluster: inCluster(variables),
    clusterIngressClass: clusterIngressClass(variables['QUAYSIDE_CLUSTER_INGRESS_CLASS']),
    clusterRouter: clusterRouter(variables, {
      trusted: trustedProxies,
      proxies: proxyProtocol,
      connections: routerConnections,
    }),
    clusterTls: clusterTls(variables),
    clusterBuilder: clusterBuilder(variables),
    clusterPorts: oneOf(variables, 'QUAYSIDE_CLUSTER_PORTS', ['LoadBalancer', 'NodePort']),
    clusterToolsImage: variables['QUAYSIDE_CLUSTER_TOOLS_IMAGE'] || 'docker.io/library/debian:13-slim',
    helm: variables['QUAYSIDE_HELM'] || 'helm',
    issuers: issuers(variables['QUAYSIDE_OIDC_ISSUERS']),
    corsOrigins: origins(variables['QUAYSIDE_CORS_ORIGINS']),
    buildCpuMilli: number(variables, 'QUAYSIDE_BUILD_CPU', usualBuildCpu(), 10, 1_000_000),
    buildMemoryMiB: number(variables, 'QUAYSIDE_BUILD_MEMORY', usualBuildMemory(parallelBuilds), 16, 16_777_216),
    parallelBuilds,
    parallelDeployments: number(variables, 'QUAYSIDE_PARALLEL_DEPLOYMENTS', 7, 1, 100),
    parallelWork: number(variables, 'QUAYSIDE_PARALLEL_WORK', 200, 1, 10_000),
    imageSizeGiB: number(variables, 'QUAYSIDE_IMAGE_SIZE', 20, 1, 1_000_000),
    diskFloorGiB: optionalNumber(variables, 'QUAYSIDE_DISK_FLOOR', 0, 1_000_000),
    buildNetwork: oneOf(variables, 'QUAYSIDE_BUILD_NETWORK', ['default', 'none']),
    cloudMetadata: oneOf(variables, 'QUAYSIDE_CLOUD_METADATA', ['closed', 'open']),
    hostAccess: hostAccess(variables['QUAYSIDE_HOST_ACCESS'] || 'closed'),
    diskBudgetGiB: number(variables, 'QUAYSIDE_DISK_BUDGET', 0, 0, 1_000_000) || undefined,
    organizationDiskGiB: optionalNumber(variables, 'QUAYSIDE_ORGANIZATION_DISK', 0, 1_000_000),
    layerGiB: number(variables, 'QUAYSIDE_LAYER_SIZE', 10, 1, 65_536),
    runnerImages: runnerImages(variables),
    repositorySizeGiB: number(variables, 'QUAYSIDE_REPOSITORY_SIZE', 4, 1, 1_000_000),
    organizationRepositoriesGiB: number(variables, 'QUAYSIDE_ORGANIZATION_REPOSITORIES', 20, 1, 1_000_000),
    auditDays: optionalNumber(variables, 'QUAYSIDE_AUDIT_DAYS', 1, 36_500),
    deploymentLogDays: number(variables, 'QUAYSIDE_DEPLOYMENT_LOG_DAYS', 90, 1, 36_500),
    copySeconds: number(variables, 'QUAYSIDE_COPY_SECONDS', 900, 1, 86_400),
    logLevel: oneOf(variables, 'QUAYSIDE_LOG_LEVEL', ['info', 'debug', 'warn', 'error', 'fatal', 'trace', 'silent']),
    logFormat: logFormat(variables),
    failpoint: variables['QUAYSIDE_FAILPOINT'],
  })
}
