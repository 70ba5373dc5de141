import type { RetryRule, Route } from '@quayside/contract/routes.ts'
import { type KubeObject, routeKinds } from './kube-objects.ts'
import { loginsSecret, plainLogins } from './logins.ts'
import { escapedPath, pathsOf } from './route-paths.ts'
import type { RuleMapping, RuleSetting, UnsupportedRule } from './rule-mapping.ts'
import { mapByTable, never, type RuleTable } from './rule-table.ts'

const prefix = 'traefik.ingress.kubernetes.io/'

/** What Traefik needs for one rule. */
interface Part {
  readonly middleware?: { readonly name: string; readonly spec: object }
  /** Timeouts of the connections to endpoints. */
  readonly timeouts?: Readonly<Record<string, string>>
  readonly service?: Readonly<Record<string, string>>
  readonly objects?: readonly KubeObject[]
}

interface Setting extends RuleSetting {
  readonly displayName: string
}

const ofEntryPoint = 'Traefik has this timeout only for all hosts of an entry point'

/** Middlewares act in the order of the table: a preflight needs no password. */
const table: RuleTable<Part, Setting> = {
  deny: never('Traefik can only allow networks'),
  redirects: never('the platform writes redirects only for its own router'),
  maintenance: never('the platform answers during maintenance only by its own router'),
  signIn: never('only the router of the platform knows who is signed in'),
  embeddable: never('only the router of the platform knows who is signed in'),
  requestsPerMinute: (average) => ({
    middleware: { name: 'rate', spec: { rateLimit: { average, period: '1m', burst: average } } },
  }),
  allow: (sourceRange) => ({ middleware: { name: 'allow', spec: { ipAllowList: { sourceRange } } } }),
  cors: ({ origins, methods, headers }) => ({
    middleware: { name: 'cors', spec: { headers: { ...originsOf(origins), ...preflight(methods, headers) } } },
  }),
  basicAuth: (logins, setting) => {
    const { namespace, labels, name, displayName } = setting
    const secret = loginsSecret(logins, { name: `${name}-logins`, namespace, labels })
    if (!secret) return { unsupported: plainLogins }
    const realm = displayName.replace(/[^\x20-\x7e]|["\\]/g, '?')
    const basicAuth = { secret: secret.metadata.name, realm }
    return { middleware: { name: 'logins', spec: { basicAuth } }, objects: [secret] }
  },
  headers: (customResponseHeaders) => ({
    middleware: { name: 'headers', spec: { headers: { customResponseHeaders } } },
  }),
  requestHeaders: (customRequestHeaders) => ({
    middleware: { name: 'request-headers', spec: { headers: { customRequestHeaders } } },
  }),
  retry: (rule) => {
    const unsupported = retryProblem(rule)
    // Traefik retries only requests that it has not begun to send.
    return unsupported === undefined
      ? { middleware: { name: 'retry', spec: { retry: { attempts: rule.times + 1 } } } }
      : { unsupported }
  },
  sticky: (isSticky) =>
    isSticky
      ? {
          service: {
            [`${prefix}service.sticky.cookie`]: 'true',
            [`${prefix}service.sticky.cookie.name`]: 'quayside_replica',
            [`${prefix}service.sticky.cookie.httponly`]: 'true',
            [`${prefix}service.sticky.cookie.samesite`]: 'lax',
          },
        }
      : {},
  connectTimeoutMs: (ms) => ({ timeouts: { dialTimeout: `${ms}ms` } }),
  idleTimeoutMs: (ms) => ({ timeouts: { idleConnTimeout: `${ms}ms` } }),
  accessLines: never('Traefik has one access log for all services'),
  compression: never("only the platform's own router does it"),
  maxBodyBytes: never('Traefik limits bodies only by keeping whole requests and responses, which breaks streams'),
  readTimeoutMs: never('Traefik limits only the time until a response begins'),
  sendTimeoutMs: never(ofEntryPoint),
  clientTimeoutMs: never(ofEntryPoint),
  requestTimeoutMs: never(ofEntryPoint),
}

/** Maps the rules of a route to Middlewares and annotations of Traefik 3. Pure. */
export function traefikRules(route: Route, setting: RuleSetting): RuleMapping {
  const { path, rewrite, rules = {}, name: displayName } = route
  const { parts, unsupported } = mapByTable(table, rules, { ...setting, displayName })
  const rewriting = rewrite === undefined ? [] : [{ name: 'rewrite', spec: { replacePathRegex: moved(path, rewrite) } }]
  // First, so that no password is sent without TLS. The Middleware leaves HTTPS alone.
  const secure = setting.redirects ? [{ name: 'https', spec: { redirectScheme: httpsScheme } }] : []
  const middlewares = [...secure, ...parts.flatMap(({ middleware }) => middleware ?? []), ...rewriting]
  const timeouts = Object.assign({}, ...parts.map((part) => part.timeouts))
  const transport = Object.keys(timeouts).length === 0 ? undefined : transportOf(setting, timeouts)
  const paths = pathsOf(path)
  const speech = route.speaksHttp2 ? { [`${prefix}service.serversscheme`]: 'h2c' } : {}
  const service = Object.assign(speech, ...parts.map((part) => part.service))
  const ingress = { [`${prefix}router.priority`]: String(priorityOf(route)) }
  if (!setting.hasTraefikKinds) {
    const lost = withoutKinds(route, middlewares.length - secure.length + (transport ? 1 : 0) > 0)
    return { paths, ingress, service, objects: [], unsupported: [...unsupported, ...lost] }
  }
  const chain = middlewares.map(({ name }) => inTraefik(setting, `${setting.name}-${name}`)).join(',')
  return {
    paths,
    ingress: { ...ingress, ...(chain !== '' && { [`${prefix}router.middlewares`]: chain }) },
    service: {
      ...service,
      ...(transport && { [`${prefix}service.serverstransport`]: inTraefik(setting, transport.metadata.name) }),
    },
    objects: [
      ...parts.flatMap(({ objects }) => objects ?? []),
      ...middlewares.map(({ name, spec }) => middlewareOf(setting, name, spec)),
      ...(transport ? [transport] : []),
    ],
    unsupported,
  }
}

const httpsScheme = { scheme: 'https', permanent: true }

/** The rules that need kinds of Traefik, for a cluster without them. */
function withoutKinds({ rules = {}, rewrite }: Route, areNeeded: boolean): readonly UnsupportedRule[] {
  if (!areNeeded) return []
  const needed = [
    ...(['allow', 'cors', 'basicAuth', 'headers', 'requestHeaders', 'requestsPerMinute', 'retry'] as const),
    ...(['connectTimeoutMs', 'idleTimeoutMs'] as const),
  ]
  const lost = [
    ...needed.filter((rule) => rules[rule] !== undefined),
    ...(rewrite === undefined ? [] : ['rewrite' as const]),
  ]
  const reason = 'the cluster lacks the kinds Middleware and ServersTransport of Traefik; install their definitions'
  return lost.map((rule) => ({ rule, reason }))
}

/**
 * Traefik prefers the longest rule, which is not the longest path: `Exact` and a wildcard make a
 * rule longer or shorter. A named host comes before a wildcard, and then the longest path.
 */
const priorityOf = ({ host, path = '' }: Route): number => (host.startsWith('*.') ? 1 : 10_001) + path.length

const inTraefik = ({ namespace }: RuleSetting, name: string): string => `${namespace}-${name}@kubernetescrd`

const middlewareOf = ({ namespace, labels, name }: RuleSetting, suffix: string, spec: object): KubeObject =>
  objectOf('middleware', { name: `${name}-${suffix}`, namespace, labels }, spec)

const transportOf = ({ namespace, labels, service }: RuleSetting, forwardingTimeouts: object): KubeObject =>
  objectOf('serversTransport', { name: service, namespace, labels }, { forwardingTimeouts })

function objectOf(kind: 'middleware' | 'serversTransport', metadata: KubeObject['metadata'], spec: object): KubeObject {
  const { apiVersion, kind: name } = routeKinds[kind]
  const object = { apiVersion, kind: name, metadata, spec }
  return object
}

/** Replaces the path of the route, and keeps what is below it. */
function moved(path: string | undefined, rewrite: string): { readonly regex: string; readonly replacement: string } {
  const from = path === undefined ? '' : escapedPath(path)
  return rewrite === '/'
    ? { regex: `^${from}/?(.*)$`, replacement: '/$1' }
    : { regex: `^${from}(/.*)?$`, replacement: `${rewrite}$1` }
}

/** Credentials are allowed only for named origins. */
function originsOf(origins: readonly string[]): object {
  if (origins.includes('*')) return { accessControlAllowOriginList: ['*'] }
  const [patterns, names] = [true, false].map((isPattern) => origins.filter((one) => one.includes('*') === isPattern))
  return {
    ...(names?.length && { accessControlAllowOriginList: names }),
    ...(patterns?.length && { accessControlAllowOriginListRegex: patterns.map(patternOf) }),
    accessControlAllowCredentials: true,
  }
}

const patternOf = (origin: string): string =>
  `^${origin.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll('*', '[^.:/]+')}$`

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

const preflight = (methods: string, headers: string): object => ({
  accessControlAllowMethods: listOf(methods),
  accessControlAllowHeaders: listOf(headers),
  accessControlMaxAge: 1_728_000,
  addVaryHeader: true,
})

const connection: ReadonlySet<string> = new Set(['connect-failure', 'reset', 'reset-before-request'])

function retryProblem({ on = [], statuses = [], perTryMs }: RetryRule): string | undefined {
  if (statuses.length > 0) return 'Traefik retries no response by its status'
  const other = on.find((one) => !connection.has(one))
  if (other !== undefined) return `Traefik retries requests only if the connection failed, not on ${other}`
  return perTryMs === undefined ? undefined : 'Traefik has no time limit for one try'
}
