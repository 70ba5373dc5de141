import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Route, RouteRules } from '@quayside/contract/routes.ts'
import { advancedSettings } from '@quayside/contract/services/advanced-settings.ts'
import { unsupportedRules } from '../routers/index.ts'
import { ruledSettings, rulesOf, usualRules } from './route-rules.ts'
import { signInRule, signInSetting } from './sign-in-rule.ts'

/** A value of each setting that differs from its default. */
const samples: Readonly<Record<string, string | number | boolean>> = {
  'network.ingress.proxy_body_size_mb': 7,
  'network.ingress.proxy_read_timeout_seconds': 7,
  'network.ingress.proxy_send_timeout_seconds': 7,
  'network.ingress.send_timeout_seconds': 7,
  'network.ingress.grpc_read_timeout_seconds': 7,
  'network.ingress.grpc_send_timeout_seconds': 7,
  'network.ingress.proxy_connect_timeout_seconds': 7,
  'network.ingress.whitelist_source_range': '10.0.0.0/8',
  'network.ingress.denylist_source_range': '192.0.2.0/24',
  'network.ingress.enable_sticky_session': true,
  'network.router.access_log': true,
  'network.router.compression': true,
  'network.ingress.enable_cors': true,
  'network.ingress.extra_headers': '{"x-one":"1"}',
  'network.router.requests_per_minute': 7,
  'network.router.maintenance_message': 'Back soon',
  'network.router.redirects': '{"/old":"/new"}',
  'network.router.request_headers': '{"x-one":"1"}',
  'network.gateway_api.http_request_timeout_seconds': 7,
  'network.gateway_api.http_connection_idle_timeout_seconds': 7,
  'network.gateway_api.retry.num_retries': 3,
  'network.gateway_api.retry.retry_on': 'reset',
  'network.gateway_api.retry.http_status_codes': '503',
  'network.gateway_api.retry.per_try_timeout_seconds': 7,
}
const logins = 'network.ingress.basic_auth_env_var'

/** The rules that a setting changes. Passwords are read at a deployment, members from a table. */
function changedBy(key: string): RouteRules {
  // They act together with another one.
  if (key === 'network.router.maintenance_source_range') return changedBy('network.router.maintenance_message')
  if (key.includes('.cors_allow_')) return changedBy('network.ingress.enable_cors')
  if (key === logins) return { basicAuth: [{ login: 'ada', hash: '$apr1$salt$hash' }] }
  if (key === `${signInSetting}_embeddable`) return { ...changedBy(signInSetting), embeddable: true }
  if (key === signInSetting) return { signIn: signInRule('', [], undefined) }
  const all = rulesOf('application', { [key]: samples[key] ?? null }, key.includes('.grpc_')) ?? {}
  const usual = usualRules()
  return Object.fromEntries(
    Object.entries(all).filter(([rule, value]) => !isDeepStrictEqual(value, usual[rule as keyof RouteRules])),
  )
}

/** Reads the table of docs/kubernetes.md: what Traefik does with a setting. */
async function readTable(): Promise<Map<string, string>> {
  const page = await readFile(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8')
  const [, table = ''] = page.split('| Setting, after `network.` | Traefik |\n')
  const rows = table.split('\n\n', 1)[0]?.split('\n').slice(1) ?? []
  return new Map(
    rows.flatMap((row) => {
      const [, keys = '', cell = ''] = row.split('|').map((part) => part.trim())
      return [...keys.matchAll(/`([^`]+)`/g)].map(([, key]) => [`network.${key}`, cell] as const)
    }),
  )
}

test('the page on Kubernetes says for each setting of routes whether Traefik applies it', async () => {
  const table = await readTable()
  const missing = [...ruledSettings].filter((key) => !table.has(key))
  assert.deepEqual(missing, [])
  for (const [key, cell] of table) {
    assert.ok(key in advancedSettings, key)
    if (!ruledSettings.has(key)) continue
    const rules = changedBy(key)
    assert.ok(Object.keys(rules).length > 0, `${key} changes no rule`)
    const route: Route = { host: 'a.test', service: 'a', name: 'a', endpoints: [], rules }
    const [found] = unsupportedRules(route, { controller: 'traefik', hasTraefikKinds: true })
    assert.match(cell, found ? /^no: / : /^yes/, `${key}: ${found?.reason ?? 'applied'}`)
  }
})
