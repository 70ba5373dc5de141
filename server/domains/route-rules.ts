import { isIP } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { RouteRules } from '@quayside/contract/routes.ts'
import { settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { type KindName, kindNames } from '@quayside/contract/services/kinds.ts'
import { effectiveSettings, type SettingValues } from '@quayside/contract/services/setting-table.ts'
import { corsReaders } from './cors-rule.ts'
import { gatewayReaders } from './gateway-rules.ts'
import { listOf, positive, type RuleReader, seconds, text } from './rule-reader.ts'
import { visitorReaders } from './visitor-readers.ts'

const prefix = 'network.ingress.'
/** Headers that define how a response is read. Users must not set them. */
const framing = new Set([
  'connection',
  'content-length',
  'content-encoding',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers between the parts of the platform. HAProxy reads one of them as a page of the router. */
const ofPlatform = /^x-quayside-/i

/** Reads networks. Throws if one is invalid. */
function networksOf(value: unknown): string[] {
  const networks = listOf(value)
  for (const network of networks) {
    const [address = '', bits, more] = network.split('/')
    const family = isIP(address)
    const most = family === 6 ? 128 : 32
    if (family === 0 || more !== undefined || (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)))
      throw new Error(`"${network}" is not a network such as 10.1.0.0/16`)
  }
  return networks
}
/**
 * Whether a list of allowed networks leaves nobody out. The default, `0.0.0.0/0`, stands for the
 * clients of IPv6 too, unless the list names networks of IPv6.
 */
function isEverywhere(networks: readonly string[]): boolean {
  const ofIpv6 = networks.filter((network) => network.includes(':'))
  return networks.includes('0.0.0.0/0') && (ofIpv6.length === 0 || ofIpv6.includes('::/0'))
}
/** Reads headers. Throws unless the value is an object with strings by header name. */
function headersOf(value: unknown): Readonly<Record<string, string>> {
  const headers: unknown = JSON.parse(text(value, '{}'))
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers))
    throw new Error('it is not a JSON object')
  const given: Record<string, string> = {}
  for (const [name, one] of Object.entries(headers)) {
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name) || framing.has(name.toLowerCase()) || ofPlatform.test(name)) {
      throw new Error(`"${name}" is not a header that can be set`)
    }
    if (typeof one !== 'string' || !/^[\x20-\x7e\t]*$/.test(one)) throw new Error(`"${name}" must be a string of ASCII`)
    given[name] = one
  }
  return given
}
function connectTimeout(value: unknown): RouteRules {
  if (positive(value) === undefined) throw new Error('it must be at least 1')
  return seconds('connectTimeoutMs')(value, {})
}

/** The readers of settings below `network.ingress.`. They throw for an invalid value. */
const ingressReaders: Readonly<Record<string, RuleReader>> = {
  proxy_body_size_mb: (value) => {
    const most = positive(value)
    return most === undefined ? {} : { maxBodyBytes: most * 1_048_576 }
  },
  proxy_read_timeout_seconds: seconds('readTimeoutMs'),
  proxy_send_timeout_seconds: seconds('sendTimeoutMs'),
  send_timeout_seconds: seconds('clientTimeoutMs'),
  // The default leaves the router its usual behavior: it abandons an endpoint after a second and
  // tries another one.
  proxy_connect_timeout_seconds: (value) => (value === 60 ? {} : connectTimeout(value)),
  whitelist_source_range: (value) => {
    const allow = networksOf(value)
    return allow.length === 0 || isEverywhere(allow) ? {} : { allow }
  },
  denylist_source_range: (value) => {
    const deny = networksOf(value)
    return deny.length === 0 ? {} : { deny }
  },
  enable_sticky_session: (value) => (value === true ? { sticky: true } : {}),
  extra_headers: (value) => {
    const headers = headersOf(value)
    return Object.keys(headers).length === 0 ? {} : { headers }
  },
  // The named variable is read at a deployment and stored with the release.
  basic_auth_env_var: (value) => {
    const name = text(value)
    if (name !== '' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new Error(`"${name}" is not the name of a variable`)
    return {}
  },
}

const readers: Readonly<Record<string, RuleReader>> = {
  ...Object.fromEntries(Object.entries(ingressReaders).map(([name, read]) => [prefix + name, read])),
  ...corsReaders,
  ...gatewayReaders,
  ...visitorReaders(headersOf, networksOf),
}

/** The settings that a router uses. */
export const ruledSettings: ReadonlySet<string> = new Set([
  ...Object.keys(readers),
  ...['read', 'send'].map((direction) => `${prefix}grpc_${direction}_timeout_seconds`),
])

/** Returns the rules of services whose settings nobody changed. */
export const usualRules = (): RouteRules => Object.assign({}, ...kindNames.map((kind) => rulesOf(kind, {})))

const mostKnown = 1_000
const longestKnown = 2_000
const known = new Map<string, RouteRules | undefined>()

/**
 * Returns the rules of a service's router. Defaults act like explicit values. Invalid stored values
 * are left out. `speaksHttp2`: the rules of a port of gRPC. Rules are remembered: tables are read
 * every few seconds, and most services have the same settings.
 */
export function rulesOf(kind: KindName, stored: SettingValues, speaksHttp2 = false): RouteRules | undefined {
  const words = `${kind} ${speaksHttp2} ${JSON.stringify(stored)}`
  if (known.has(words)) return known.get(words)
  const rules = readRules(kind, stored, speaksHttp2)
  if (known.size >= mostKnown) known.clear()
  if (words.length <= longestKnown) known.set(words, rules)
  return rules
}

/** Ports of gRPC have timeouts of their own, with the meaning of the usual ones. */
function grpcTimeouts(settings: SettingValues): SettingValues {
  const pairs = ['read', 'send'].flatMap((direction) => {
    const value = settings[`${prefix}grpc_${direction}_timeout_seconds`]
    return value === undefined ? [] : [[`${prefix}proxy_${direction}_timeout_seconds`, value] as const]
  })
  return Object.fromEntries(pairs)
}

function readRules(kind: KindName, stored: SettingValues, speaksHttp2: boolean): RouteRules | undefined {
  const given = effectiveSettings(settingsOfKind(kind), stored)
  const settings = speaksHttp2 ? { ...given, ...grpcTimeouts(given) } : given
  const rules = Object.entries(readers).map(([key, read]) => {
    try {
      return key in settings ? read(settings[key], settings) : {}
    } catch {
      // It was stored before values were checked.
      return {}
    }
  })
  const all = Object.assign({}, ...rules)
  return Object.keys(all).length === 0 ? undefined : all
}

/**
 * Returns why these advanced settings are invalid, for the first new value that a router cannot
 * use. Undefined if there is none. Values already stored are accepted.
 */
export function rulesProblem(values: SettingValues, stored: SettingValues = {}): string | undefined {
  for (const [key, read] of Object.entries(readers)) {
    try {
      if (key in values && !isDeepStrictEqual(values[key], stored[key])) read(values[key], values)
    } catch (error) {
      return `${key}: ${error instanceof Error ? error.message : 'it cannot be read'}.`
    }
  }
  return undefined
}
