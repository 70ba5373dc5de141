import { readdir, readFile } from 'node:fs/promises'
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import { machine } from '../../../lib/machine.ts'
import type { DockerDaemon } from '../daemon.ts'

/** The operator's registry settings of the Docker daemon. */
export interface RegistrySettings {
  /** Mirrors that are asked before Docker Hub, for its images alone. */
  readonly mirrors: readonly URL[]
  /**
   * Returns whether a `host` or `host:port` may be asked over plain http, and with any certificate.
   */
  isInsecure(host: string): boolean
  readonly platform: Platform
  /** The directory of the engine's data. Empty: there is no engine. */
  readonly dataDirectory: string
}

export interface Platform {
  readonly os: string
  readonly architecture: string
  readonly variant: string | undefined
}

/** One address of a registry. */
export interface Place {
  readonly origin: URL
  /** The operator configured it, so it may be at any address. It is never sent a password. */
  readonly isOperators: boolean
  readonly isInsecure: boolean
}

/** Parts of the daemon's answer, in the shape of its published API. */
interface Info {
  readonly RegistryConfig?: {
    readonly Mirrors?: readonly string[] | null
    readonly InsecureRegistryCIDRs?: readonly string[] | null
    readonly IndexConfigs?: Readonly<Record<string, { readonly Secure?: boolean }>> | null
  } | null
  readonly Architecture?: string
  readonly DockerRootDir?: string
}

/** Returns the settings of an installation without a Docker daemon. */
export const ownSettings = (insecure: readonly string[]): RegistrySettings => ({
  mirrors: [],
  isInsecure: insecurity(new Set(insecure.filter((one) => !one.includes('/'))), [
    '127.0.0.0/8',
    '::1/128',
    ...insecure.filter((one) => one.includes('/')),
  ]),
  dataDirectory: '',
  platform: { os: 'linux', architecture: machine.architecture.toLowerCase(), variant: undefined },
})

export async function readSettings(daemon: DockerDaemon, signal: AbortSignal): Promise<RegistrySettings> {
  const [info, version] = await Promise.all([
    daemon.json({ method: 'GET', path: '/info', signal }) as Promise<Info>,
    daemon.json({ method: 'GET', path: '/version', signal }) as Promise<{ Os?: string; Arch?: string }>,
  ])
  const { Mirrors, IndexConfigs, InsecureRegistryCIDRs } = info.RegistryConfig ?? {}
  const named = Object.entries(IndexConfigs ?? {}).flatMap(([host, { Secure }]) => (Secure === false ? [host] : []))
  return {
    mirrors: (Mirrors ?? []).flatMap((text) => URL.parse(text) ?? []),
    isInsecure: insecurity(new Set(named), InsecureRegistryCIDRs ?? []),
    dataDirectory: info.DockerRootDir ?? '',
    platform: {
      os: version.Os ?? 'linux',
      architecture: version.Arch ?? 'amd64',
      variant: variantOf(info.Architecture),
    },
  }
}

/** Matches insecure registries by name or by address; by default the addresses of this machine. */
function insecurity(named: ReadonlySet<string>, cidrs: readonly string[]): (host: string) => boolean {
  const networks = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    const family = isIP(network)
    if (family !== 0) networks.addSubnet(network, Number(bits), family === 4 ? 'ipv4' : 'ipv6')
  }
  return (host) => {
    const hostname = host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
    const address = hostname === 'localhost' ? '127.0.0.1' : hostname
    const family = isIP(address)
    return named.has(host) || (family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6'))
  }
}

/** Only 32-bit ARM has variants that cannot run each other's programs. */
const variantOf = (machine: string | undefined): string | undefined =>
  /^armv([5-8])/.exec(machine ?? '')?.[1]?.replace(/^/, 'v')

export const hubHost = 'docker.io'
const hubOrigin = 'https://registry-1.docker.io'

/** Returns the addresses to ask for images of a host, in this order. */
export function placesOf(
  host: string,
  { mirrors, isInsecure }: Pick<RegistrySettings, 'mirrors' | 'isInsecure'>,
): Place[] {
  if (host !== hubHost) {
    return [{ origin: new URL(`https://${host}`), isOperators: false, isInsecure: isInsecure(host) }]
  }
  const own = { origin: new URL(hubOrigin), isOperators: false, isInsecure: false }
  return [...mirrors.map((origin) => ({ origin, isOperators: true, isInsecure: isInsecure(origin.host) })), own]
}

/** The directory in which Docker looks for the authorities of registries. */
const authoritiesDirectory = '/etc/docker/certs.d'

/**
 * Returns the usual authorities and those that Docker has for this registry; undefined if Docker
 * has none.
 */
export async function authoritiesOf(host: string, directory = authoritiesDirectory): Promise<string[] | undefined> {
  const place = join(directory, host)
  const names = await readdir(place).catch(() => [])
  const files = names.filter((name) => name.endsWith('.crt'))
  if (files.length === 0) return undefined
  const own = await Promise.all(files.map((name) => readFile(join(place, name), 'utf8')))
  return [...getCACertificates('default'), ...own]
}
