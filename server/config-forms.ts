import { Resolver } from 'node:dns'
import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { networkList } from '@quayside/contract/forwarded.ts'
import type { Config } from './config.ts'
import type { ClusterBuilderSettings } from './engines/index.ts'
import { createAddressGuard } from './lib/address.ts'
import type { LogFormat } from './lib/log.ts'
import type { PodRouterSettings, RouterExposure } from './routers/index.ts'

// The forms of settings. Each function reads one setting, and throws ConfigError with its name.

/** An invalid setting. The message names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

export type Variables = Readonly<Record<string, string | undefined>>

interface ListForm {
  /** The required form of each entry, with an example. */
  readonly form: string
  /** Throws if an entry is invalid. */
  check(listed: readonly string[]): unknown
}

export const cidrForm: ListForm = {
  form: 'CIDRs such as 10.1.0.0/16',
  check: (listed) => createAddressGuard({ allowedPrivateCidrs: listed }),
}
export const proxyForm: ListForm = { form: 'addresses or CIDRs such as 10.1.0.0/16', check: networkList }
const hostForm = /^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$/

/** Registries: `host`, `host:port` or a network. */
export const registryForm: ListForm = {
  form: 'hosts such as registry.example.org:5000, or networks such as 10.0.0.0/8, separated by commas',
  check: (listed) => {
    const networks = listed.filter((one) => one.includes('/'))
    cidrForm.check(networks)
    const wrong = listed.find((one) => !one.includes('/') && !hostForm.test(one))
    if (wrong !== undefined) throw new Error(wrong)
  },
}

export const nameServerForm: ListForm = {
  form: 'IP addresses such as 9.9.9.9 or [2620:fe::fe]:53',
  check: (listed) => new Resolver().setServers(listed),
}

/** Parses entries separated by commas or spaces. */
export function list(variables: Variables, name: string, { form, check }: ListForm): string[] {
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
export function origins(text: string | undefined): string[] {
  const listed = (text ?? '').split(/[\s,]+/).filter((part) => part !== '')
  for (const origin of listed) {
    const url = URL.parse(origin)
    if (url && /^https?:$/.test(url.protocol) && url.origin === origin) continue
    throw new ConfigError(`QUAYSIDE_CORS_ORIGINS must be origins such as https://app.example.org, not "${origin}".`)
  }
  return listed
}

export function number(variables: Variables, name: string, fallback: number, least: number, most: number): number {
  const text = variables[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new ConfigError(`${name} must be a whole number from ${least} to ${most}, not "${text}".`)
  }
  return value
}

export const optionalNumber = (variables: Variables, name: string, least: number, most: number): number | undefined =>
  variables[name] ? number(variables, name, least, least, most) : undefined

export function portRange(variables: Variables, name: string, fallback: string): { first: number; last: number } {
  const text = variables[name] || fallback
  const [, first = 0, last = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number)
  if (first >= 1024 && first <= last && last <= 65535) return { first, last }
  throw new ConfigError(`${name} must be a range of ports from 1024 on such as ${fallback}, not "${text}".`)
}

/** `closed`, `open`, or ports such as `443, 5000-5010/udp`, separated by commas or spaces. */
export function hostAccess(text: string): Config['hostAccess'] {
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

const classForm = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/

export function clusterIngressClass(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (classForm.test(text)) return text
  throw new ConfigError(`QUAYSIDE_CLUSTER_INGRESS_CLASS must be the name of an IngressClass, not "${text}".`)
}

/** A reference of an image, in linear time: no spaces, and a name before a tag or a digest. */
const imageForm = /^[a-zA-Z0-9][\w.:/@-]{0,511}$/
const exposureForm = /^(LoadBalancer|NodePort)(?::(\d{1,5})(?::(\d{1,5}))?)?$/

/** Reads how our router runs in clusters. Undefined without an image. */
export function clusterRouter(
  variables: Variables,
  rest: Pick<PodRouterSettings, 'trusted' | 'proxies' | 'connections'>,
): PodRouterSettings | undefined {
  const image = variables['QUAYSIDE_CLUSTER_ROUTER_IMAGE']
  const exposure = routerExposure(variables['QUAYSIDE_CLUSTER_ROUTER_SERVICE'] || 'LoadBalancer')
  const replicas = number(variables, 'QUAYSIDE_CLUSTER_ROUTER_REPLICAS', 2, 1, 50)
  const keepsKeys = oneOf(variables, 'QUAYSIDE_CLUSTER_ROUTER_KEYS', ['memory', 'secrets']) === 'secrets'
  if (!image) return undefined
  if (!imageForm.test(image)) {
    const example = 'registry.example.org/quayside/router@sha256:…'
    throw new ConfigError(`QUAYSIDE_CLUSTER_ROUTER_IMAGE must be an image such as ${example}, not "${image}".`)
  }
  return { image, replicas, exposure, keepsKeys, ...rest }
}

/** Reads the image of BuildKit for builds on a Docker Engine. Undefined: a usual one. */
export function builderImage(image: string | undefined): string | undefined {
  if (!image) return undefined
  if (imageForm.test(image)) return image
  const example = 'registry.example.org/moby/buildkit:v0.34.2-rootless'
  throw new ConfigError(`QUAYSIDE_BUILDER_IMAGE must be an image such as ${example}, not "${image}".`)
}

const digestForm = /^[a-zA-Z0-9][\w.:/-]{0,400}@sha256:[0-9a-f]{64}$/
const labelForm = /^([a-zA-Z0-9][\w./-]{0,252})=([a-zA-Z0-9][\w.-]{0,62})$/

/** Reads how builders run in clusters. Undefined without an image. */
export function clusterBuilder(variables: Variables): ClusterBuilderSettings | undefined {
  const image = variables['QUAYSIDE_CLUSTER_BUILDER_IMAGE']
  const nodes = variables['QUAYSIDE_CLUSTER_BUILDER_NODES']
  const [, key = '', value = ''] = labelForm.exec(nodes ?? '') ?? []
  if (nodes && key === '') {
    throw new ConfigError(`QUAYSIDE_CLUSTER_BUILDER_NODES must be a label such as purpose=builds, not "${nodes}".`)
  }
  const settings = {
    cpuMilli: number(variables, 'QUAYSIDE_CLUSTER_BUILDER_CPU', 2000, 100, 1_000_000),
    memoryMiB: number(variables, 'QUAYSIDE_CLUSTER_BUILDER_MEMORY', 4096, 256, 16_777_216),
    diskGiB: number(variables, 'QUAYSIDE_CLUSTER_BUILDER_DISK', 50, 1, 100_000),
    nodes: nodes ? { key, value } : undefined,
  }
  if (!image) return undefined
  if (!digestForm.test(image)) {
    const example = 'registry.example.org/quayside/builder@sha256:…'
    throw new ConfigError(`QUAYSIDE_CLUSTER_BUILDER_IMAGE must be an image by its digest, ${example}, not "${image}".`)
  }
  if (variables['QUAYSIDE_DOCKER_HOST'] !== 'none') {
    throw new ConfigError(
      'QUAYSIDE_CLUSTER_BUILDER_IMAGE needs QUAYSIDE_DOCKER_HOST=none: with a Docker Engine, images are built there.',
    )
  }
  return { image, ...settings }
}

function routerExposure(text: string): RouterExposure {
  const [, type, ...found] = exposureForm.exec(text) ?? []
  const given = found.filter((port) => port !== undefined).map(Number)
  const [nodePort, tlsNodePort] = given
  if (type === 'LoadBalancer' && given.length === 0) return { type }
  if (type === 'NodePort' && given.every((port) => port >= 1 && port <= 65_535) && nodePort !== tlsNodePort) {
    return { type, ...(nodePort !== undefined && { nodePort }), ...(tlsNodePort !== undefined && { tlsNodePort }) }
  }
  if (type === 'NodePort' && given.length === 0) return { type }
  const forms = 'LoadBalancer, NodePort, NodePort:30080, or NodePort:30080:30443 with the port of HTTPS'
  throw new ConfigError(`QUAYSIDE_CLUSTER_ROUTER_SERVICE must be ${forms}, not "${text}".`)
}

const repositoryForm = /^[a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)+$/

const runnerReference = /^[a-z0-9][a-z0-9.-]*(?::[0-9]{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*:v?([0-9]+\.[0-9]+\.[0-9]+)$/

const runnerForm: ListForm = {
  form: 'images whose tags are versions, such as opentofu/opentofu:1.12.6',
  check: (listed) => {
    const wrong = listed.find((one) => !runnerReference.test(one))
    if (wrong !== undefined) throw new Error(`"${wrong}" is not such an image`)
  },
}

/** Images of the engines of stacks. Their tags are the versions. */
export function runnerImages(variables: Variables): Config['runnerImages'] {
  const settings = { TERRAFORM: 'QUAYSIDE_TERRAFORM_IMAGE', OPEN_TOFU: 'QUAYSIDE_OPENTOFU_IMAGE' } as const
  return (['TERRAFORM', 'OPEN_TOFU'] as const).flatMap((engine) =>
    list(variables, settings[engine], runnerForm).map((reference) => {
      return { engine, reference, version: runnerReference.exec(reference)?.[1] ?? '' }
    }),
  )
}

export function clusterRegistry(variables: Variables): Config['clusterRegistry'] {
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

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The address comes from the environment that Kubernetes gives to every pod. */
export function inCluster(variables: Variables): Config['inCluster'] {
  const clusterId = variables['QUAYSIDE_IN_CLUSTER_ID']?.toLowerCase()
  const host = variables['KUBERNETES_SERVICE_HOST']
  const port = variables['KUBERNETES_SERVICE_PORT_HTTPS'] || variables['KUBERNETES_SERVICE_PORT'] || '443'
  if (!clusterId) return undefined
  if (!idForm.test(clusterId)) {
    throw new ConfigError(`QUAYSIDE_IN_CLUSTER_ID must be the id of a cluster, not "${clusterId}".`)
  }
  const server = URL.parse(`https://${host && isIP(host) === 6 ? `[${host}]` : host}:${port}`)
  if (!host || isIP(host) === 0 || !server) {
    throw new ConfigError(
      'QUAYSIDE_IN_CLUSTER_ID needs a server that runs in a pod, where KUBERNETES_SERVICE_HOST is an address.',
    )
  }
  const directory = '/var/run/secrets/kubernetes.io/serviceaccount'
  return { clusterId, server: `https://${server.host}`, directory }
}

export function oneOf<const T extends string>(variables: Variables, name: string, values: readonly [T, ...T[]]): T {
  const text = variables[name] || values[0]
  const found = values.find((value) => value === text)
  if (found === undefined) throw new ConfigError(`${name} must be one of ${values.join(', ')}, not "${text}".`)
  return found
}

export function logFormat(variables: Variables): LogFormat | undefined {
  return variables['QUAYSIDE_LOG_FORMAT'] ? oneOf(variables, 'QUAYSIDE_LOG_FORMAT', ['json', 'text']) : undefined
}

export function publicUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== '/' || url.search || url.username) {
    throw new ConfigError(`QUAYSIDE_PUBLIC_URL must be like https://quayside.example.org, not "${text}".`)
  }
  return url.origin
}

const usualSockets = ['/var/run/docker.sock', '/run/docker.sock'] as const

/** The message omits the address, because it contains a password. */
export function databaseUrl(text: string | undefined): string | undefined {
  if (!text || ['postgres:', 'postgresql:'].includes(URL.parse(text)?.protocol ?? '')) return text || undefined
  throw new ConfigError(
    'QUAYSIDE_DATABASE_URL must be an address such as postgres://user:password@host:5432/database. ' +
      'Characters of the password that have a meaning in addresses are written as %40 for "@" and so on.',
  )
}

/** Servers that share a data directory need a place of their own, and one database. */
export function sharing(
  variables: Variables,
  { dataDirectory, port }: { readonly dataDirectory: string; readonly port: number },
): Pick<Config, 'isDataShared' | 'scratchDirectory'> {
  const isDataShared = oneOf(variables, 'QUAYSIDE_SHARED_DATA', ['off', 'on']) === 'on'
  if (isDataShared && !variables['QUAYSIDE_DATABASE_URL']) {
    throw new ConfigError(
      'QUAYSIDE_SHARED_DATA=on needs QUAYSIDE_DATABASE_URL: servers that share files share an outside database too.',
    )
  }
  const usual = isDataShared ? join(tmpdir(), `quayside-${port}`) : dataDirectory
  return { isDataShared, scratchDirectory: resolve(variables['QUAYSIDE_SCRATCH'] || usual) }
}

/** Undefined: the installation has no Docker Engine. */
export function dockerSocket(text: string | undefined): string | undefined {
  if (text === 'none') return undefined
  if (!text) return usualSockets.find((path) => existsSync(path)) ?? usualSockets[0]
  if (text.startsWith('unix://')) return text.slice('unix://'.length)
  if (text.startsWith('/')) return text
  throw new ConfigError(
    `QUAYSIDE_DOCKER_HOST must be a unix socket such as unix:///var/run/docker.sock, or none, not "${text}".`,
  )
}
