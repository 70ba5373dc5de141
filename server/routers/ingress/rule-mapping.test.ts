import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route, RouteRules } from '@quayside/contract/routes.ts'
import { type Controller, controllerOf, isIndispensable, mapRules, unsupportedRules } from './rule-mapping.ts'

const route = (rules: RouteRules, more: Partial<Route> = {}): Route => ({
  host: 'shop.example.org',
  service: 'shop-id',
  name: 'shop',
  endpoints: [],
  rules,
  ...more,
})
const setting = { namespace: 'ns', labels: { ours: 'yes' }, name: 'route-1', service: 'backend', hasTraefikKinds: true }

const map = (controller: Controller, rules: RouteRules, more: Partial<Route> = {}) => {
  const { ingress, service, objects, unsupported, paths } = mapRules(route(rules, more), controller, setting)
  const bare = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key.replace(/^.*\//, ''), value]))
  return {
    ingress: bare(ingress),
    service: bare(service),
    objects: objects.map((one) => Object(one)),
    unsupported,
    paths,
  }
}
const middlewareOf = (rules: RouteRules, more: Partial<Route> = {}) =>
  map('traefik', rules, more).objects.find(({ kind }) => kind === 'Middleware')?.spec

/** A value of every rule. */
const all: Required<RouteRules> = {
  maxBodyBytes: 1_048_576,
  readTimeoutMs: 1500,
  connectTimeoutMs: 2000,
  sendTimeoutMs: 3000,
  clientTimeoutMs: 4000,
  requestTimeoutMs: 5000,
  idleTimeoutMs: 6000,
  retry: { times: 2 },
  allow: ['10.0.0.0/8'],
  deny: ['192.0.2.0/24'],
  sticky: true,
  accessLines: true,
  compression: true,
  cors: { origins: ['https://a.test'], methods: 'GET, PUT', headers: 'X-One, X-Two' },
  headers: { 'X-Frame-Options': 'DENY' },
  basicAuth: [{ login: 'anna', hash: '$apr1$salt$hash' }],
  requestsPerMinute: 60,
  maintenance: { message: 'Back soon' },
  redirects: [{ from: '/old', to: '/new', status: 308 }],
  requestHeaders: { 'X-Zone': 'blue' },
  signIn: { page: 'https://quayside.test/oidc/applications', key: 'A'.repeat(43), organization: 'o', roles: [] },
  embeddable: true,
}

test('Traefik applies these rules, and names why it cannot apply the others', () => {
  const { ingress, service, objects, unsupported } = map('traefik', all, { path: '/api', rewrite: '/' })
  assert.deepEqual(
    unsupported.map(({ rule }) => rule),
    [
      ...['deny', 'redirects', 'maintenance', 'signIn', 'embeddable', 'accessLines', 'compression'],
      ...['maxBodyBytes', 'readTimeoutMs', 'sendTimeoutMs', 'clientTimeoutMs', 'requestTimeoutMs'],
    ],
  )
  assert.deepEqual(ingress, {
    'router.priority': '10005',
    'router.middlewares': ['rate', 'allow', 'cors', 'logins', 'headers', 'request-headers', 'retry', 'rewrite']
      .map((name) => `ns-route-1-${name}@kubernetescrd`)
      .join(),
  })
  assert.deepEqual(service, {
    'service.sticky.cookie': 'true',
    'service.sticky.cookie.name': 'quayside_replica',
    'service.sticky.cookie.httponly': 'true',
    'service.sticky.cookie.samesite': 'lax',
    'service.serverstransport': 'ns-backend@kubernetescrd',
  })
  assert.deepEqual(
    objects.map(({ kind, metadata, spec, data }) => [kind, metadata.name, spec ?? data]),
    [
      ['Secret', 'route-1-logins', { users: Buffer.from('anna:$apr1$salt$hash\n').toString('base64') }],
      ['Middleware', 'route-1-rate', { rateLimit: { average: 60, period: '1m', burst: 60 } }],
      ['Middleware', 'route-1-allow', { ipAllowList: { sourceRange: ['10.0.0.0/8'] } }],
      [
        'Middleware',
        'route-1-cors',
        {
          headers: {
            accessControlAllowOriginList: ['https://a.test'],
            accessControlAllowCredentials: true,
            accessControlAllowMethods: ['GET', 'PUT'],
            accessControlAllowHeaders: ['X-One', 'X-Two'],
            accessControlMaxAge: 1_728_000,
            addVaryHeader: true,
          },
        },
      ],
      ['Middleware', 'route-1-logins', { basicAuth: { secret: 'route-1-logins', realm: 'shop' } }],
      ['Middleware', 'route-1-headers', { headers: { customResponseHeaders: { 'X-Frame-Options': 'DENY' } } }],
      ['Middleware', 'route-1-request-headers', { headers: { customRequestHeaders: { 'X-Zone': 'blue' } } }],
      ['Middleware', 'route-1-retry', { retry: { attempts: 3 } }],
      ['Middleware', 'route-1-rewrite', { replacePathRegex: { regex: '^/api/?(.*)$', replacement: '/$1' } }],
      ['ServersTransport', 'backend', { forwardingTimeouts: { dialTimeout: '2000ms', idleConnTimeout: '6000ms' } }],
    ],
  )
  for (const { metadata } of objects) assert.deepEqual([metadata.namespace, metadata.labels], ['ns', { ours: 'yes' }])
})

test('Traefik speaks HTTP/2 without TLS with ports of gRPC, and another controller gets none', () => {
  const more = { speaksHttp2: true }
  assert.deepEqual(map('traefik', {}, more).service, { 'service.serversscheme': 'h2c' })
  const [lost] = unsupportedRules(route({}, more), { controller: 'other', hasTraefikKinds: false })
  assert.ok(lost && isIndispensable(lost))
  assert.equal(lost.rule, 'speaksHttp2')
})

test('another controller applies no rule', () => {
  const { unsupported, ingress, objects } = map('other', all, { rewrite: '/v1' })
  assert.deepEqual(new Set(unsupported.map(({ rule }) => rule)), new Set([...Object.keys(all), 'rewrite']))
  assert.deepEqual([ingress, objects], [{}, []])
})

test('a service behind the sign-in has no route at a controller that knows no person', () => {
  for (const controller of ['traefik', 'other'] as const) {
    const [lost] = unsupportedRules(route({ signIn: all.signIn }), { controller, hasTraefikKinds: true })
    assert.ok(lost && isIndispensable(lost), controller)
  }
})

test('Traefik without its kinds cannot apply rules that need a Middleware', () => {
  const lost = unsupportedRules(route(all, { rewrite: '/' }), { controller: 'traefik', hasTraefikKinds: false })
  const withKinds = unsupportedRules(route(all, { rewrite: '/' }), { controller: 'traefik', hasTraefikKinds: true })
  const more = lost.filter(({ rule }) => !withKinds.some((one) => one.rule === rule)).map(({ rule }) => rule)
  assert.deepEqual(more, [
    'allow',
    'cors',
    'basicAuth',
    'headers',
    'requestHeaders',
    'requestsPerMinute',
    'retry',
    'connectTimeoutMs',
    'idleTimeoutMs',
    'rewrite',
  ])
  assert.deepEqual(unsupportedRules(route({ sticky: true }), { controller: 'traefik', hasTraefikKinds: false }), [])
})

test('defaults are not listed as unsupported, changed ones are', () => {
  const traefik = { controller: 'traefik', hasTraefikKinds: true } as const
  const usual = { readTimeoutMs: 60_000, maxBodyBytes: 5 }
  const changed = route({ readTimeoutMs: 60_000, maxBodyBytes: 6 })
  assert.deepEqual(
    unsupportedRules(changed, traefik, usual).map(({ rule }) => rule),
    ['maxBodyBytes'],
  )
})

test('passwords that the platform has hashed itself are unsupported', () => {
  const rules = { basicAuth: [{ login: 'anna', hash: 'scrypt:a:b' }] }
  assert.match(String(map('traefik', rules).unsupported[0]?.reason), /htpasswd -nm/)
  assert.deepEqual(map('traefik', rules).objects, [])
})

test('Traefik allows credentials only for named origins, and reads patterns of origins', () => {
  const cors = { methods: 'GET', headers: '' }
  const open = middlewareOf({ cors: { ...cors, origins: ['https://a.test', '*'] } }).headers
  assert.deepEqual([open.accessControlAllowOriginList, open.accessControlAllowCredentials], [['*'], undefined])
  const named = middlewareOf({ cors: { ...cors, origins: ['https://*.a.test'] } }).headers
  assert.deepEqual(named.accessControlAllowOriginListRegex, [String.raw`^https://[^.:/]+\.a\.test$`])
  assert.equal(named.accessControlAllowOriginList, undefined)
})

test('retries on what Traefik cannot see are unsupported', () => {
  const reasonOf = (retry: NonNullable<RouteRules['retry']>) => map('traefik', { retry }).unsupported[0]?.reason
  assert.match(String(reasonOf({ times: 1, statuses: [503] })), /no response by its status/)
  assert.match(String(reasonOf({ times: 1, on: ['5xx'] })), /not on 5xx/)
  assert.match(String(reasonOf({ times: 1, perTryMs: 5 })), /one try/)
  assert.equal(reasonOf({ times: 1, on: ['connect-failure', 'reset'] }), undefined)
})

test('the controller of a class is known by its name', () => {
  assert.equal(controllerOf('traefik.io/ingress-controller'), 'traefik')
  assert.equal(controllerOf('k8s.io/ingress-nginx'), 'other')
  assert.equal(controllerOf(undefined), 'other')
})
