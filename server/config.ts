import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { domainOf } from './config-domain.ts'
import {
  builderImage,
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
import { creationLimits, rateLimits } from './config-limits.ts'
import type { Config } from './config-object.ts'
import { clusterTls, ownDoor, publicRouterPorts, routerTls, withUsualAddresses } from './config-tls.ts'

export type { Config }
export { ConfigError }

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
    domain: domainOf(variables),
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
    founders: oneOf(variables, 'QUAYSIDE_ORGANIZATIONS', ['everyone', 'operator']),
    ...rateLimits(variables),
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
    builderImage: builderImage(variables['QUAYSIDE_BUILDER_IMAGE']),
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
    webhookDays: number(variables, 'QUAYSIDE_WEBHOOK_DAYS', 30, 1, 36_500),
    copySeconds: number(variables, 'QUAYSIDE_COPY_SECONDS', 900, 1, 86_400),
    logLevel: oneOf(variables, 'QUAYSIDE_LOG_LEVEL', ['info', 'debug', 'warn', 'error', 'fatal', 'trace', 'silent']),
    logFormat: logFormat(variables),
    failpoint: variables['QUAYSIDE_FAILPOINT'],
  })
}
