import { Resolver } from 'node:dns'
import { existsSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { networkList } from '@quayside/contract/forwarded.ts'
import { permissions } from '@quayside/contract/operation.ts'
import type { Issuer } from './access/index.ts'
import { createAddressGuard } from './lib/address.ts'
import type { LogFormat } from './lib/log.ts'

/** All settings of the environment, read once. */
export interface Config {
  readonly dataDirectory: string
  readonly host: string
  readonly port: number
  /** Without a trailing slash. */
  readonly publicUrl: string
  readonly routerHost: string
  readonly routerPort: number
  /** Networks of proxies whose `X-Forwarded-*` headers the router and the API trust. */
  readonly trustedProxies: readonly string[]
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
  readonly dockerSocket: string
  readonly masterKeyFile: string
  readonly rateLimit: number
  readonly rateBurst: number
  /** Open streams at the same time, of one token or account and of one organization. */
  readonly streamLimits: { readonly perCaller: number; readonly perOrganization: number }
  readonly allowPrivateTargets: readonly string[]
  /**
   * The repository `host/path` from which connected clusters take images; undefined: clusters run
   * none. The password is in a file.
   */
  readonly clusterRegistry:
    | { readonly repository: string; readonly username?: string; readonly passwordFile?: string }
    | undefined
  /** An image with a shell, `tar` and `head`, as connected clusters name it. */
  readonly clusterToolsImage: string
  readonly issuers: readonly Issuer[]
  /** Origins of web pages that may use the API from a browser, as `https://app.example.org`. */
  readonly corsOrigins: readonly string[]
  /** Limits of one build step: thousandths of a core, and memory. */
  readonly buildCpuMilli: number
  readonly buildMemoryMiB: number
  /** Builds that run at the same time, and services that start at the same time. */
  readonly parallelBuilds: number
  readonly parallelDeployments: number
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

/** All cores of a small machine, because running services come first anyway. */
const usualBuildCpu = (): number => Math.min(4000, availableParallelism() * 1000)

/**
 * All builds together, and the reserved one for another organization, leave half of the memory to
 * running services.
 */
const usualBuildMemory = (parallelBuilds: number): number =>
  Math.max(256, Math.min(4096, Math.floor(totalmem() / 2 ** 20 / 2 / (parallelBuilds + 1))))

/** An invalid setting. The message names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Variables = Readonly<Record<string, string | undefined>>

/** Names that programs other than the server read. */
const othersSettings = ['QUAYSIDE_DEBIAN_MIRROR', 'QUAYSIDE_REQUIRE_DOCKER']

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
export function readConfig(variables: Variables = process.env): Config {
  const dataDirectory = resolve(variables['QUAYSIDE_DATA'] || '.quayside')
  const port = number(variables, 'QUAYSIDE_PORT', 3000, 1, 65535)
  const parallelBuilds = number(variables, 'QUAYSIDE_PARALLEL_BUILDS', 2, 1, 100)
  return Object.freeze({
    dataDirectory,
    host: variables['QUAYSIDE_HOST'] || '127.0.0.1',
    port,
    publicUrl: publicUrl(variables['QUAYSIDE_PUBLIC_URL'] || `http://localhost:${port}`),
    routerHost: variables['QUAYSIDE_ROUTER_HOST'] || '127.0.0.1',
    routerPort: number(variables, 'QUAYSIDE_ROUTER_PORT', 8080, 1, 65535),
    trustedProxies: list(variables, 'QUAYSIDE_TRUSTED_PROXIES', proxyForm),
    routerConnections: {
      total: number(variables, 'QUAYSIDE_ROUTER_CONNECTIONS', 10_000, 10, 1_000_000),
      perClient: number(variables, 'QUAYSIDE_ROUTER_CONNECTIONS_PER_CLIENT', 1_000, 1, 1_000_000),
    },
    domain: (variables['QUAYSIDE_DOMAIN'] || 'localhost').toLowerCase(),
    domainProof: oneOf(variables, 'QUAYSIDE_DOMAIN_PROOF', ['required', 'waived']),
    nameServers: list(variables, 'QUAYSIDE_NAME_SERVERS', nameServerForm),
    publicPorts: portRange(variables, 'QUAYSIDE_PUBLIC_PORTS', '30000-30999'),
    databaseUrl: databaseUrl(variables['QUAYSIDE_DATABASE_URL']),
    snapshots: oneOf(variables, 'QUAYSIDE_SNAPSHOT', ['required', 'off']) === 'required',
    dockerSocket: dockerSocket(variables['QUAYSIDE_DOCKER_HOST']),
    masterKeyFile: resolve(variables['QUAYSIDE_MASTER_KEY_FILE'] || join(dataDirectory, 'master.key')),
    rateLimit: number(variables, 'QUAYSIDE_RATE_LIMIT', 100, 0, 1_000_000),
    rateBurst: number(variables, 'QUAYSIDE_RATE_BURST', 500, 1, 1_000_000),
    streamLimits: {
      perCaller: number(variables, 'QUAYSIDE_STREAMS_PER_CALLER', 20, 1, 1_000_000),
      perOrganization: number(variables, 'QUAYSIDE_STREAMS_PER_ORGANIZATION', 200, 1, 1_000_000),
    },
    allowPrivateTargets: list(variables, 'QUAYSIDE_ALLOW_PRIVATE_TARGETS', cidrForm),
    clusterRegistry: clusterRegistry(variables),
    clusterToolsImage: variables['QUAYSIDE_CLUSTER_TOOLS_IMAGE'] || 'docker.io/library/busybox:1.37',
    issuers: issuers(variables['QUAYSIDE_OIDC_ISSUERS']),
    corsOrigins: origins(variables['QUAYSIDE_CORS_ORIGINS']),
    buildCpuMilli: number(variables, 'QUAYSIDE_BUILD_CPU', usualBuildCpu(), 10, 1_000_000),
    buildMemoryMiB: number(variables, 'QUAYSIDE_BUILD_MEMORY', usualBuildMemory(parallelBuilds), 16, 16_777_216),
    parallelBuilds,
    parallelDeployments: number(variables, 'QUAYSIDE_PARALLEL_DEPLOYMENTS', 7, 1, 100),
    imageSizeGiB: number(variables, 'QUAYSIDE_IMAGE_SIZE', 20, 1, 1_000_000),
    diskFloorGiB: optionalNumber(variables, 'QUAYSIDE_DISK_FLOOR', 0, 1_000_000),
    buildNetwork: oneOf(variables, 'QUAYSIDE_BUILD_NETWORK', ['default', 'none']),
    cloudMetadata: oneOf(variables, 'QUAYSIDE_CLOUD_METADATA', ['closed', 'open']),
    hostAccess: hostAccess(variables['QUAYSIDE_HOST_ACCESS'] || 'closed'),
    diskBudgetGiB: number(variables, 'QUAYSIDE_DISK_BUDGET', 0, 0, 1_000_000) || undefined,
    organizationDiskGiB: optionalNumber(variables, 'QUAYSIDE_ORGANIZATION_DISK', 0, 1_000_000),
    layerGiB: number(variables, 'QUAYSIDE_LAYER_SIZE', 10, 1, 65_536),
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

interface ListForm {
  /** The required form of each entry, with an example. */
  readonly form: string
  /** Throws if an entry is invalid. */
  check(listed: readonly string[]): unknown
}

const cidrForm: ListForm = {
  form: 'CIDRs such as 10.1.0.0/16',
  check: (listed) => createAddressGuard({ allowedPrivateCidrs: listed }),
}
const proxyForm: ListForm = { form: 'addresses or CIDRs such as 10.1.0.0/16', check: networkList }
const nameServerForm: ListForm = {
  form: 'IP addresses such as 9.9.9.9 or [2620:fe::fe]:53',
  check: (listed) => new Resolver().setServers(listed),
}

/** Parses entries separated by commas or spaces. */
function list(variables: Variables, name: string, { form, check }: ListForm): string[] {
  const text = variables[name] ?? ''
  const listed = text.split(/[\s,]+/).filter((part) => part !== '')
  try {
    check(listed)
    return listed
  } catch (cause) {
    throw new ConfigError(`${name} must be ${form}, not "${text}".`, { cause })
  }
}

/** Parses origins separated by commas or spaces. */
function origins(text: string | undefined): string[] {
  const listed = (text ?? '').split(/[\s,]+/).filter((part) => part !== '')
  for (const origin of listed) {
    const url = URL.parse(origin)
    if (url && /^https?:$/.test(url.protocol) && url.origin === origin) continue
    throw new ConfigError(`QUAYSIDE_CORS_ORIGINS must be origins such as https://app.example.org, not "${origin}".`)
  }
  return listed
}

function number(variables: Variables, name: string, fallback: number, least: number, most: number): number {
  const text = variables[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigError(`${name} must be a whole number from ${least} to ${most}, not "${text}".`)
  }
  return value
}

const optionalNumber = (variables: Variables, name: string, least: number, most: number): number | undefined =>
  variables[name] ? number(variables, name, least, least, most) : undefined

function portRange(variables: Variables, name: string, fallback: string): { first: number; last: number } {
  const text = variables[name] || fallback
  const [, first = 0, last = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number)
  if (first >= 1024 && first <= last && last <= 65535) return { first, last }
  throw new ConfigError(`${name} must be a range of ports from 1024 on such as ${fallback}, not "${text}".`)
}

/** `closed`, `open`, or ports such as `443, 5000-5010/udp`, separated by commas or spaces. */
function hostAccess(text: string): Config['hostAccess'] {
  if (text === 'open') return text
  if (text === 'closed') return []
  const listed = text.split(/[\s,]+/).filter((part) => part !== '')
  return listed.map((part) => {
    const [, from, to, protocol] = /^(\d{1,5})(?:-(\d{1,5}))?(?:\/(tcp|udp))?$/.exec(part) ?? []
    const [first, last] = [Number(from), Number(to ?? from)]
    if (first >= 1 && first <= last && last <= 65535)
      return { first, last, protocol: protocol === 'udp' ? 'udp' : 'tcp' }
    throw new ConfigError(
      `QUAYSIDE_HOST_ACCESS must be closed, open, or ports such as 443, 5000-5010/udp, not "${text}".`,
    )
  })
}

const repositoryForm = /^[a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)+$/

function clusterRegistry(variables: Variables): Config['clusterRegistry'] {
  const repository = variables['QUAYSIDE_CLUSTER_REGISTRY']
  const username = variables['QUAYSIDE_CLUSTER_REGISTRY_USERNAME']
  const passwordFile = variables['QUAYSIDE_CLUSTER_REGISTRY_PASSWORD_FILE']
  if (!repository) return undefined
  if (!repositoryForm.test(repository)) {
    throw new ConfigError(
      `QUAYSIDE_CLUSTER_REGISTRY must be like registry.example.org/team/images, not "${repository}".`,
    )
  }
  if (Boolean(username) !== Boolean(passwordFile)) {
    throw new ConfigError(
      'QUAYSIDE_CLUSTER_REGISTRY_USERNAME needs QUAYSIDE_CLUSTER_REGISTRY_PASSWORD_FILE, and vice versa.',
    )
  }
  return { repository, ...(username && passwordFile && { username, passwordFile: resolve(passwordFile) }) }
}

function oneOf<const T extends string>(variables: Variables, name: string, values: readonly [T, ...T[]]): T {
  const text = variables[name] || values[0]
  const found = values.find((value) => value === text)
  if (found === undefined) throw new ConfigError(`${name} must be one of ${values.join(', ')}, not "${text}".`)
  return found
}

function logFormat(variables: Variables): LogFormat | undefined {
  return variables['QUAYSIDE_LOG_FORMAT'] ? oneOf(variables, 'QUAYSIDE_LOG_FORMAT', ['json', 'text']) : undefined
}

function publicUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username) {
    throw new ConfigError(`QUAYSIDE_PUBLIC_URL must be like https://quayside.example.org, not "${text}".`)
  }
  return url.origin
}

const usualSockets = ['/var/run/docker.sock', '/run/docker.sock'] as const

/** The message omits the address, because it contains a password. */
function databaseUrl(text: string | undefined): string | undefined {
  if (!text || ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? '')) return text || undefined
  throw new ConfigError(
    'QUAYSIDE_DATABASE_URL must be an address such as postgres://user:password@host:5432/database. ' +
      'Characters of the password that have a meaning in addresses are written as %40 for "@" and so on.',
  )
}

function dockerSocket(text: string | undefined): string {
  if (!text) return usualSockets.find((path) => existsSync(path)) ?? usualSockets[0]
  if (text.startsWith('unix://')) return text.slice('unix://'.length)
  if (text.startsWith('/')) return text
  throw new ConfigError(
    `QUAYSIDE_DOCKER_HOST must be a unix socket such as unix:///var/run/docker.sock, not "${text}".`,
  )
}

/** A JSON list of {issuer, audience, jwksUrl, algorithms, members}. See docs/operate.md. */
function issuers(text: string | undefined): Issuer[] {
  if (!text) return []
  try {
    const value: unknown = JSON.parse(text)
    if (!Array.isArray(value)) throw new Error('it is not a list')
    return value.map(toIssuer)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`QUAYSIDE_OIDC_ISSUERS must be a JSON list of issuers: ${why}.`, { cause: error })
  }
}

const safeAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA']

function toIssuer(value: unknown): Issuer {
  const fields = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const { issuer, audience, jwksUrl, algorithms = ['RS256'], members = {} } = Object.fromEntries(fields)
  for (const text of [issuer, audience, jwksUrl]) {
    if (typeof text !== 'string' || text === '') throw new Error('each needs issuer, audience and jwksUrl')
  }
  if (!Array.isArray(algorithms) || !algorithms.every((name) => safeAlgorithms.includes(name))) {
    throw new Error(`algorithms must be among ${safeAlgorithms.join(', ')}`)
  }
  return { issuer, audience, jwksUrl, algorithms, members: toMembers(members) }
}

/** `{"<subject>": ["ADMIN"]}`. */
function toMembers(value: unknown): Issuer['members'] {
  if (typeof value !== 'object' || value === null) throw new Error('members must be an object')
  const entries = Object.entries(value).map(([subject, given]) => {
    const granted = permissions.filter((permission) => Array.isArray(given) && given.includes(permission))
    if (!Array.isArray(given) || granted.length !== given.length || granted.length === 0) {
      throw new Error(`members: ${subject} needs a list of ${permissions.join(', ')}`)
    }
    return [subject, granted] as const
  })
  return Object.fromEntries(entries)
}
