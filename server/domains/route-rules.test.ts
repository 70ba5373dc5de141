import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advancedSettings, settingsOfKind } from '@quayside/contract/services/advanced-settings.ts'
import { settingDefaults } from '@quayside/contract/services/setting-table.ts'
import { rulesOf, rulesProblem } from './route-rules.ts'

const ingress = (settings: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`network.ingress.${name}`, value]))

/** The rules of the defaults. */
const usual = { maxBodyBytes: 104_857_600, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }

test('defaults have the same rules when a client sends them back', () => {
  for (const kind of ['application', 'container', 'helm'] as const) {
    const defaults = settingDefaults(settingsOfKind(kind))
    assert.deepEqual(rulesOf(kind, {}), usual)
    assert.deepEqual(rulesOf(kind, defaults), usual)
    assert.deepEqual(rulesOf(kind, ingress({ proxy_body_size_mb: 2 })), { ...usual, maxBodyBytes: 2_097_152 })
  }
})

test('0 is no limit', () => {
  const sizes = [
    'proxy_body_size_mb',
    'proxy_read_timeout_seconds',
    'proxy_send_timeout_seconds',
    'send_timeout_seconds',
  ]
  assert.equal(rulesOf('application', ingress(Object.fromEntries(sizes.map((name) => [name, 0])))), undefined)
})

test('a kind without router settings has no rules', () => {
  for (const kind of ['database', 'job', 'terraform'] as const) assert.equal(rulesOf(kind, {}), undefined)
})

test('settings in a request become rules', () => {
  const sent = ingress({
    proxy_body_size_mb: 2,
    proxy_read_timeout_seconds: 5,
    whitelist_source_range: '10.0.0.0/8, 192.0.2.1',
    denylist_source_range: 'fd00::/8',
    enable_sticky_session: true,
    enable_cors: true,
    cors_allow_origin: 'https://shop.example',
    cors_allow_methods: 'GET',
    cors_allow_headers: 'X-One',
    extra_headers: '{"X-Frame-Options": "DENY"}',
  })
  assert.equal(rulesProblem(sent), undefined)
  assert.deepEqual(rulesOf('container', sent), {
    ...usual,
    maxBodyBytes: 2_097_152,
    readTimeoutMs: 5000,
    allow: ['10.0.0.0/8', '192.0.2.1'],
    deny: ['fd00::/8'],
    sticky: true,
    cors: { origins: ['https://shop.example'], methods: 'GET', headers: 'X-One' },
    headers: { 'X-Frame-Options': 'DENY' },
  })
})

test('what a router could not act on is refused by its name, and left out where it was kept before', () => {
  const bad = {
    denylist_source_range: 'everybody',
    whitelist_source_range: '10.0.0.0/33',
    extra_headers: '{"Content-Length": "1"}',
    basic_auth_env_var: 'user:password',
  }
  for (const [name, value] of Object.entries(bad)) {
    const sent = ingress({ [name]: value })
    assert.match(rulesProblem(sent) ?? '', new RegExp(`^network.ingress.${name}: `))
    assert.deepEqual(rulesOf('container', sent), usual)
  }
})

test('allowed networks are a rule unless they are every address', () => {
  const allowOf = (networks: string) => rulesOf('container', ingress({ whitelist_source_range: networks }))?.allow
  for (const all of ['0.0.0.0/0', '0.0.0.0/0, ::/0', '10.0.0.0/8 0.0.0.0/0', '::/0,0.0.0.0/0,fd00::/8']) {
    assert.equal(allowOf(all), undefined, all)
  }
  assert.deepEqual(allowOf('10.0.0.0/8, ::/0'), ['10.0.0.0/8', '::/0'])
  assert.deepEqual(allowOf('0.0.0.0/0, fd00::/8'), ['0.0.0.0/0', 'fd00::/8'])
  assert.deepEqual(allowOf('::/0'), ['::/0'])
})

test('headers between the parts of the platform cannot be set', () => {
  for (const key of ['network.ingress.extra_headers', 'network.router.request_headers']) {
    const sent = { [key]: '{"X-Quayside-Page": "Zm9yZ2Vk"}' }
    assert.match(rulesProblem(sent) ?? '', /"X-Quayside-Page" is not a header that can be set/)
    assert.deepEqual(rulesOf('container', sent), usual)
  }
})

test('an origin that no browser sends is refused, and stored ones leave the others in force', () => {
  const good = '*, https://shop.example http://*.shop.example:8080, http://[::1]:3000, capacitor://localhost'
  assert.equal(rulesProblem(ingress({ cors_allow_origin: good })), undefined)
  for (const bad of [
    ...['shop.example', 'https://shop.example/', 'https://Shop.example', 'https://shop.example:443', 'null', ','],
    ...['*.shop.example', 'https://app-*.shop.example', 'https://a.*.example', 'https://*', 'capacitor://*.a.example'],
    ...['https://ada@shop.example', 'https://shop.example/a', 'https://b\u00fccher.example', 'https://a.example:70000'],
  ]) {
    const sent = ingress({ cors_allow_origin: bad })
    assert.match(rulesProblem(sent) ?? '', /^network\.ingress\.cors_allow_origin: /, bad)
    assert.equal(rulesProblem(sent, sent), undefined)
  }
  const stored = ingress({ enable_cors: true, cors_allow_origin: 'shop.example, https://shop.example' })
  assert.deepEqual(rulesOf('container', stored)?.cors?.origins, ['shop.example', 'https://shop.example'])
})

test('a new value of a CORS setting is checked though CORS was enabled before', () => {
  const stored = ingress({ enable_cors: true })
  for (const name of ['cors_allow_methods', 'cors_allow_headers']) {
    const problem = rulesProblem({ ...stored, ...ingress({ [name]: 'G\u00c9T' }) }, stored)
    assert.match(problem ?? '', new RegExp(`^network\\.ingress\\.${name}: `))
  }
})

test('timeouts of gRPC apply to its ports alone', () => {
  const sent = ingress({ grpc_read_timeout_seconds: 5, grpc_send_timeout_seconds: 0, proxy_send_timeout_seconds: 7 })
  assert.equal(rulesProblem(sent), undefined)
  assert.deepEqual(rulesOf('container', sent), { ...usual, sendTimeoutMs: 7000 })
  const { sendTimeoutMs: _none, ...others } = usual
  assert.deepEqual(rulesOf('container', sent, true), { ...others, readTimeoutMs: 5000 })
})

test('timeouts and retries become rules', () => {
  const gateway = (settings: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [`network.gateway_api.${name}`, value]))
  const sent = {
    ...ingress({ proxy_connect_timeout_seconds: 5, proxy_send_timeout_seconds: 6, send_timeout_seconds: 7 }),
    ...gateway({
      http_request_timeout_seconds: 8,
      http_connection_idle_timeout_seconds: 9,
      'retry.num_retries': 3,
      'retry.retry_on': '5xx, reset',
      'retry.http_status_codes': '429,503',
      'retry.per_try_timeout_seconds': 1,
    }),
  }
  assert.equal(rulesProblem(sent), undefined)
  assert.deepEqual(rulesOf('container', sent), {
    ...usual,
    connectTimeoutMs: 5000,
    sendTimeoutMs: 6000,
    clientTimeoutMs: 7000,
    requestTimeoutMs: 8000,
    idleTimeoutMs: 9000,
    retry: { times: 3, on: ['5xx', 'reset'], statuses: [429, 503], perTryMs: 1000 },
  })
  assert.deepEqual(rulesOf('container', gateway({ 'retry.num_retries': 0 })), { ...usual, retry: { times: 0 } })
  assert.deepEqual(rulesOf('container', gateway({ 'retry.retry_on': 'reset' })), {
    ...usual,
    retry: { times: 2, on: ['reset'] },
  })
  for (const bad of [
    gateway({ 'retry.num_retries': 11 }),
    gateway({ 'retry.retry_on': 'always' }),
    gateway({ 'retry.http_status_codes': '200' }),
    ingress({ proxy_connect_timeout_seconds: 0 }),
  ]) {
    const [key = ''] = Object.keys(bad)
    assert.ok(rulesProblem(bad)?.startsWith(`${key}: `), JSON.stringify(bad))
    assert.deepEqual(rulesOf('container', bad), usual)
  }
})

test('a client may send all defaults back', () => {
  assert.equal(rulesProblem(settingDefaults(advancedSettings)), undefined)
})

const router = (settings: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`network.router.${name}`, value]))

test('settings about visitors become rules', () => {
  const sent = router({
    access_log: true,
    compression: true,
    requests_per_minute: 60,
    maintenance_message: 'Back soon',
    maintenance_source_range: '10.0.0.0/8',
    redirects: '{"/old": "/new", "/blog/*": {"to": "https://blog.example.org/*", "status": 302}}',
    request_headers: '{"X-Zone": "blue"}',
  })
  assert.equal(rulesProblem(sent), undefined)
  assert.deepEqual(rulesOf('application', sent), {
    ...usual,
    accessLines: true,
    compression: true,
    requestsPerMinute: 60,
    maintenance: { message: 'Back soon', except: ['10.0.0.0/8'] },
    redirects: [
      { from: '/old', to: '/new', status: 308 },
      { from: '/blog/*', to: 'https://blog.example.org/*', status: 302 },
    ],
    requestHeaders: { 'X-Zone': 'blue' },
  })
})

test('responses of an application behind the sign-in may be embedded only if its setting says so', () => {
  const embeddable = { sign_in_embeddable: true }
  assert.equal(rulesProblem(router(embeddable)), undefined)
  assert.deepEqual(rulesOf('application', router({ ...embeddable, sign_in: 'member' })), { ...usual, embeddable: true })
  assert.deepEqual(rulesOf('application', router(embeddable)), usual, 'without a sign-in it has no effect')
})

test('settings about visitors that the router cannot use are rejected', () => {
  for (const [name, value] of [
    ['maintenance_message', 'a\nb'],
    ['maintenance_source_range', 'nowhere'],
    ['redirects', '[]'],
    ['redirects', '{"old": "/new"}'],
    ['redirects', '{"/old": "//evil.test"}'],
    ['redirects', '{"/old": "/\\\\evil.test"}'],
    ['redirects', '{"/old": "javascript:alert(1)"}'],
    ['redirects', '{"/old": "https:evil.test"}'],
    ['redirects', '{"/old": "/new/*"}'],
    ['redirects', '{"/old/*": "https://a.test*/*"}'],
    ['redirects', '{"/old": {"to": "/new", "status": 200}}'],
    ['redirects', `{"/old": "/${'a'.repeat(2_000)}"}`],
    ['request_headers', '{"Host": "other.test"}'],
    ['request_headers', '{"X-Forwarded-For": "10.0.0.1"}'],
    ['request_headers', '{"X-Quayside-Door": "open"}'],
    ['request_headers', '{"Content-Length": "1"}'],
  ] as const) {
    assert.match(rulesProblem(router({ [name]: value })) ?? '', new RegExp(`^network.router.${name}: `), value)
  }
})
