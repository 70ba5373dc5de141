import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import { type DnsSettings, isCertifiable, letsEncrypt, localAuthority } from './certificates/index.ts'
import { acmeDns } from './config-dns.ts'
import { domainOf } from './config-domain.ts'
import { ConfigError, oneOf, optionalNumber, type Variables } from './config-forms.ts'
import { localAddress, urlOf } from './domains/index.ts'

/** Who makes the certificates of routers. */
export interface AuthoritySettings {
  /** The address of the authority's directory (RFC 8555). */
  readonly directory: string
  /** Where the authority may write about its certificates. */
  readonly email?: string
  /** The operator's DNS, if wildcards prove themselves in it. */
  readonly dns?: DnsSettings
}

/** How the router of this machine speaks TLS. */
export interface RouterTlsSettings extends AuthoritySettings {
  readonly port: number
}

/**
 * Reads the port of HTTPS and the certificate authority. Undefined without a port. Throws
 * ConfigError with the name of the variable.
 */
export function routerTls(variables: Variables): RouterTlsSettings | undefined {
  const port = optionalNumber(variables, 'QUAYSIDE_ROUTER_TLS_PORT', 1, 65_535)
  const authority = authorityOf(variables)
  return port === undefined ? undefined : { port, ...authority }
}

/**
 * Reads the certificate authority of routers in clusters. They speak HTTPS if the router of this
 * machine does, unless the operator says otherwise. Undefined: they speak HTTP only.
 */
export function clusterTls(variables: Variables): AuthoritySettings | undefined {
  const usual = routerTls(variables) === undefined ? 'off' : 'on'
  const name = 'QUAYSIDE_CLUSTER_ROUTER_TLS'
  const wish = variables[name] ? oneOf(variables, name, ['on', 'off']) : usual
  return wish === 'on' && variables['QUAYSIDE_CLUSTER_ROUTER_IMAGE'] ? authorityOf(variables) : undefined
}

function authorityOf(variables: Variables): AuthoritySettings {
  const directory = variables['QUAYSIDE_ACME_DIRECTORY'] || letsEncrypt
  const email = variables['QUAYSIDE_ACME_EMAIL'] || undefined
  if (directory !== localAuthority && URL.parse(directory)?.protocol !== 'https:') {
    throw new ConfigError(
      `QUAYSIDE_ACME_DIRECTORY must be "${localAuthority}" or an address such as ${letsEncrypt}, not "${directory}".`,
    )
  }
  if (email !== undefined && !/^[^\s@,]+@[^\s@,]+$/.test(email)) {
    throw new ConfigError(`QUAYSIDE_ACME_EMAIL must be an address such as ops@example.org, not "${email}".`)
  }
  const dns = acmeDns(variables)
  if (dns && directory === localAuthority) {
    throw new ConfigError(
      'QUAYSIDE_ACME_DIRECTORY=local needs no proof in DNS. Unset the settings QUAYSIDE_ACME_DNS_….',
    )
  }
  return { directory, ...(email !== undefined && { email }), ...(dns && { dns }) }
}

/** The ports of the router as clients see them, if they are not those on which it listens. */
export interface PublicRouterPorts {
  readonly port?: number
  /** Without HTTPS of the router: the port of a proxy that ends it. */
  readonly tlsPort?: number
}

/**
 * Reads the ports that clients use. Throws ConfigError if a proxy is to end HTTPS, but none is
 * trusted: then applications would not learn of it.
 */
export function publicRouterPorts(variables: Variables): PublicRouterPorts {
  const port = optionalNumber(variables, 'QUAYSIDE_ROUTER_PUBLIC_PORT', 1, 65_535)
  const tlsPort = optionalNumber(variables, 'QUAYSIDE_ROUTER_PUBLIC_TLS_PORT', 1, 65_535)
  if (tlsPort !== undefined && !routerTls(variables) && !variables['QUAYSIDE_TRUSTED_PROXIES']) {
    throw new ConfigError(
      'QUAYSIDE_ROUTER_PUBLIC_TLS_PORT needs QUAYSIDE_ROUTER_TLS_PORT, or QUAYSIDE_TRUSTED_PROXIES with the proxy ' +
        'that ends HTTPS.',
    )
  }
  return { ...(port !== undefined && { port }), ...(tlsPort !== undefined && { tlsPort }) }
}

/** The settings of addresses. */
const addresses = [
  'QUAYSIDE_PUBLIC_URL',
  'QUAYSIDE_ROUTER_HOST',
  'QUAYSIDE_ROUTER_PORT',
  'QUAYSIDE_ROUTER_TLS_PORT',
  'QUAYSIDE_ROUTER_PUBLIC_PORT',
  'QUAYSIDE_ROUTER_PUBLIC_TLS_PORT',
  'QUAYSIDE_TRUSTED_PROXIES',
] as const

/** All addresses of this machine. A kernel without IPv6 has no `::`. */
export const everyAddress = existsSync('/proc/net/if_inet6') ? '::' : '0.0.0.0'

/**
 * Pure: adds the usual values of the settings of addresses. With a domain for which the authority
 * makes certificates, and none of these settings, the router has the usual ports of all addresses.
 * If it speaks TLS, the platform itself is at `quayside.<domain>`.
 */
export function withUsualAddresses(variables: Variables): Variables {
  const domain = domainOf(variables)
  const name = `quayside.${domain}`
  const isOpen = isShared(domain, variables) && addresses.every((one) => !variables[one]) && runsRouter(variables)
  const given: Variables = isOpen
    ? {
        ...variables,
        QUAYSIDE_ROUTER_HOST: everyAddress,
        QUAYSIDE_ROUTER_PORT: '80',
        QUAYSIDE_ROUTER_TLS_PORT: '443',
      }
    : variables
  const tls = routerTls(given)
  if (!tls || given['QUAYSIDE_PUBLIC_URL'] || !isCertifiable(name, tls.directory)) return given
  const port = publicRouterPorts(given).tlsPort ?? tls.port
  return { ...given, QUAYSIDE_PUBLIC_URL: urlOf(name, { scheme: 'https', port }) }
}

/** Whether other machines can have this domain, with HTTPS. */
const isShared = (domain: string, variables: Variables): boolean =>
  domain.split('.').at(-1) !== 'localhost' && isCertifiable(`quayside.${domain}`, authorityOf(variables).directory)

/** Without a Docker Engine there is no router on this machine. */
const runsRouter = (variables: Variables): boolean => variables['QUAYSIDE_DOCKER_HOST'] !== 'none'

/** How the API, the console and the git host are reached through the router. */
interface OwnDoor {
  /** Their name at the router. Undefined: the router does not lead to them. */
  readonly platformHost: string | undefined
  /** Proxies and the router: each carries the connections of many clients. */
  readonly apiProxies: readonly string[]
}

/**
 * Pure: the router leads to the platform itself if it speaks TLS and the public URL is a name with
 * HTTPS. The limits on the connections of one client do not apply to it then.
 */
export function ownDoor({
  routerTls: tls,
  publicUrl,
  host,
  trustedProxies,
}: {
  readonly routerTls: RouterTlsSettings | undefined
  readonly publicUrl: string
  readonly host: string
  readonly trustedProxies: readonly string[]
}): OwnDoor {
  const { protocol, hostname } = new URL(publicUrl)
  const isOwn = tls !== undefined && protocol === 'https:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0
  if (!isOwn) return { platformHost: undefined, apiProxies: trustedProxies }
  return { platformHost: hostname, apiProxies: [...new Set([...trustedProxies, localAddress(host)])] }
}
