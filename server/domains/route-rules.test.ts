import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advancedSettings } from '@quayside/contract/services/advanced-settings.ts'
import { settingDefaults } from '@quayside/contract/services/setting-table.ts'
import { rulesOf, rulesProblem } from './route-rules.ts'

const ingress = (settings: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(settings).map(([name, value]) => [`network.ingress.${name}`, value]))

test('a service whose advanced settings say nothing of its router has no rules', () => {
  assert.equal(rulesOf({}), undefined)
  assert.equal(rulesOf({ 'build.timeout_max_sec': 60, ...ingress({ whitelist_source_range: '0.0.0.0/0' }) }), undefined)
})

test('what was sent becomes rules', () => {
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
  assert.deepEqual(rulesOf(sent), {
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
    assert.equal(rulesOf(sent), undefined)
  }
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
  assert.deepEqual(rulesOf(sent), {
    connectTimeoutMs: 5000,
    sendTimeoutMs: 6000,
    clientTimeoutMs: 7000,
    requestTimeoutMs: 8000,
    idleTimeoutMs: 9000,
    retry: { times: 3, on: ['5xx', 'reset'], statuses: [429, 503], perTryMs: 1000 },
  })
  assert.deepEqual(rulesOf(gateway({ 'retry.num_retries': 0 })), { retry: { times: 0 } })
  assert.deepEqual(rulesOf(gateway({ 'retry.retry_on': 'reset' })), { retry: { times: 2, on: ['reset'] } })
  for (const bad of [
    gateway({ 'retry.num_retries': 11 }),
    gateway({ 'retry.retry_on': 'always' }),
    gateway({ 'retry.http_status_codes': '200' }),
    ingress({ proxy_connect_timeout_seconds: 0 }),
  ]) {
    const [key = ''] = Object.keys(bad)
    assert.ok(rulesProblem(bad)?.startsWith(`${key}: `), JSON.stringify(bad))
    assert.equal(rulesOf(bad), undefined)
  }
})

test('a client may send all defaults back', () => {
  assert.equal(rulesProblem(settingDefaults(advancedSettings)), undefined)
})
