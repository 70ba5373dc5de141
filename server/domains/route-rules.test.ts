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

test('a client may send all defaults back', () => {
  assert.equal(rulesProblem(settingDefaults(advancedSettings)), undefined)
})
