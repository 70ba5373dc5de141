import type { RetryRule, Route } from '@quayside/contract/routes.ts'
import type { KubeObject } from './kube-objects.ts'
import { loginsSecret, plainLogins } from './logins.ts'
import { escapedPath, pathsOf } from './route-paths.ts'
import type { RuleMapping, RuleSetting } from './rule-mapping.ts'
import { mapByTable, never, type RuleTable } from './rule-table.ts'

const prefix = 'nginx.ingress.kubernetes.io/'

/**
 * Characters without a meaning in a configuration file of nginx. Old controllers write annotations
 * into it unchecked, so other characters could become directives.
 */
const plain = /^[A-Za-z0-9 .,:/*_[\]-]*$/
const notPlain = 'ingress-nginx takes only letters, digits, spaces and . , : / * _ - [ ] in settings of CORS'

/** What ingress-nginx needs for one rule: annotations of the Ingress, without their prefix. */
interface Part {
  readonly annotations: Readonly<Record<string, string>>
  readonly objects?: readonly KubeObject[]
}

const annotated = (annotations: Part['annotations']): Part => ({ annotations })
/** ingress-nginx knows whole seconds. Less than one would be none. */
const seconds = (ms: number): string => String(Math.max(1, Math.ceil(ms / 1000)))
const ofAllHosts = 'ingress-nginx has this setting only for all hosts, in its ConfigMap'

const table: RuleTable<Part, RuleSetting> = {
  maxBodyBytes: (bytes) => annotated({ 'proxy-body-size': String(bytes) }),
  readTimeoutMs: (ms) => annotated({ 'proxy-read-timeout': seconds(ms) }),
  sendTimeoutMs: (ms) => annotated({ 'proxy-send-timeout': seconds(ms) }),
  connectTimeoutMs: (ms) =>
    ms > 75_000
      ? { unsupported: 'ingress-nginx waits at most 75 seconds for a connection' }
      : annotated({ 'proxy-connect-timeout': seconds(ms) }),
  clientTimeoutMs: never(ofAllHosts),
  requestTimeoutMs: never('ingress-nginx has no limit of a whole request'),
  idleTimeoutMs: never(ofAllHosts),
  allow: (networks) => annotated({ 'whitelist-source-range': networks.join(',') }),
  deny: (networks) => annotated({ 'denylist-source-range': networks.join(',') }),
  sticky: (isSticky) =>
    annotated(
      isSticky
        ? { affinity: 'cookie', 'session-cookie-name': 'quayside_replica', 'session-cookie-samesite': 'Lax' }
        : {},
    ),
  cors: ({ origins, methods, headers }) => {
    if (![...origins, methods, headers].every((text) => plain.test(text))) return { unsupported: notPlain }
    const isOpen = origins.includes('*')
    return annotated({
      'enable-cors': 'true',
      'cors-allow-origin': isOpen ? '*' : origins.join(', '),
      'cors-allow-methods': methods,
      'cors-allow-headers': headers,
      'cors-allow-credentials': String(!isOpen),
      'cors-max-age': '1728000',
    })
  },
  headers: never(ofAllHosts),
  basicAuth: (logins, { namespace, labels, name }) => {
    const secret = loginsSecret(logins, 'auth', { name: `${name}-logins`, namespace, labels })
    if (!secret) return { unsupported: plainLogins }
    return { annotations: { 'auth-type': 'basic', 'auth-secret': secret.metadata.name }, objects: [secret] }
  },
  retry: (rule) => {
    const conditions = retriesOf(rule)
    if ('unsupported' in conditions) return conditions
    const tries = rule.times === 0 ? { 'proxy-next-upstream': 'off' } : { 'proxy-next-upstream': conditions.on }
    return annotated({ ...tries, 'proxy-next-upstream-tries': String(rule.times + 1) })
  },
}

/** Maps the rules of a route to annotations of ingress-nginx. Pure. */
export function nginxRules(route: Route, setting: RuleSetting): RuleMapping {
  const { path, rewrite, rules = {} } = route
  const { parts, unsupported } = mapByTable(table, rules, setting)
  const annotations = Object.assign({}, ...parts.map((part) => part.annotations), rewrittenBy(path, rewrite))
  return {
    paths: rewrite === undefined ? pathsOf(path) : [{ path: expressionOf(path), pathType: 'ImplementationSpecific' }],
    ingress: Object.fromEntries(Object.entries<string>(annotations).map(([key, value]) => [prefix + key, value])),
    service: {},
    objects: parts.flatMap(({ objects }) => objects ?? []),
    unsupported,
  }
}

/** Captures the slash behind the path and the rest. */
const expressionOf = (path: string | undefined): string =>
  path === undefined ? '/()(.*)' : `${escapedPath(path)}(/|$)(.*)`

function rewrittenBy(path: string | undefined, rewrite: string | undefined): object {
  if (rewrite === undefined) return {}
  const slash = path === undefined ? '/' : '$1'
  return { 'use-regex': 'true', 'rewrite-target': rewrite === '/' ? '/$2' : `${rewrite}${slash}$2` }
}

const connection: ReadonlySet<string> = new Set(['connect-failure', 'reset', 'reset-before-request'])
/** The statuses that nginx can retry. */
const retried: ReadonlySet<number> = new Set([403, 404, 429, 500, 502, 503, 504])

function retriesOf({
  on,
  statuses = [],
  perTryMs,
}: RetryRule): { readonly on: string } | { readonly unsupported: string } {
  if (perTryMs !== undefined) return { unsupported: 'ingress-nginx limits all tries together, not each' }
  const words = new Set<string>()
  for (const one of on ?? ['connect-failure', 'reset']) {
    if (connection.has(one)) words.add('error')
    else if (one === '5xx') for (const status of [500, 502, 503, 504]) words.add(`http_${status}`)
    else if (one === 'gateway-error') for (const status of [502, 503, 504]) words.add(`http_${status}`)
    else if (one !== 'retriable-status-codes') return { unsupported: `ingress-nginx has no retry on ${one}` }
  }
  for (const status of statuses) {
    if (!retried.has(status)) return { unsupported: `ingress-nginx cannot retry the status ${status}` }
    words.add(`http_${status}`)
  }
  return { on: [...words].join(' ') }
}
