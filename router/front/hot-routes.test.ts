import assert from 'node:assert/strict'
import test from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { type HotContext, hotMaps } from './hot-routes.ts'

const endpoints = [{ address: '10.0.0.3', port: 8080 }]
const rules = { maxBodyBytes: 1000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
const route: Route = { host: 'app.test', service: 's', name: 'shop', endpoints, rules }
const context: HotContext = {
  port: '8080',
  tlsPort: '443',
  hasCertificate: (host) => host === 'safe.test',
  door: 'platform',
}

const mapsOf = (routes: readonly Route[]) => {
  const { plain, secure, shares } = hotMaps(routes, (one) => one.endpoints, context)
  return { plain: Object.fromEntries(plain), secure: Object.fromEntries(secure), shares: Object.fromEntries(shares) }
}

test('a plain route is hot at its name, and at its name with the port of clients', () => {
  const line = '10.0.0.3:8080 1000'
  assert.deepEqual(mapsOf([route]), { plain: { 'app.test': line, 'app.test:8080': line }, secure: {}, shares: {} })
})

test('a route without rules accepts bodies of any size', () => {
  const { rules: _, ...bare } = route
  assert.equal(mapsOf([bare]).plain['app.test'], `10.0.0.3:8080 ${Number.MAX_SAFE_INTEGER}`)
})

test('a host with a certificate is hot over TLS under its own server name', () => {
  const safe = { ...route, host: 'safe.test', tls: { from: 'platform', redirects: false } } as const
  const { plain, secure } = mapsOf([safe])
  assert.deepEqual(Object.keys(plain), ['safe.test', 'safe.test:8080'])
  assert.deepEqual(Object.keys(secure), ['safe.test/safe.test'])
  assert.deepEqual(mapsOf([{ ...safe, tls: { from: 'platform', redirects: true } }]).plain, {})
})

test('the endpoints of a route share its requests equally', () => {
  const two = [...endpoints, { address: '10.0.0.4', port: 8080 }]
  const { plain, shares } = mapsOf([{ ...route, endpoints: two }])
  assert.equal(plain['app.test'], '#app.test# 1000')
  const counts = Map.groupBy(Object.values(shares), (label) => label)
  assert.deepEqual(
    [...counts].map(([label, all]) => [label, all.length]),
    [
      ['10.0.0.3:8080 1000', 30],
      ['10.0.0.4:8080 1000', 30],
    ],
  )
})

test('routes that only the router can serve are not hot', () => {
  const cold: readonly Partial<Route>[] = [
    { endpoints: [] },
    { asleep: true },
    { path: '/api' },
    { rewrite: '/' },
    { speaksHttp2: true },
    { host: '*.app.test' },
    { service: 'platform' },
    { endpoints: [{ address: 'fd00::1', port: 8080 }] },
    { rules: { ...rules, sticky: true } },
    { rules: { ...rules, headers: { 'X-A': 'b' } } },
    { rules: { ...rules, readTimeoutMs: 5 } },
    { rules: { ...rules, requestTimeoutMs: 60_000 } },
    { rules: { maxBodyBytes: 1000 } },
    { rules: { ...rules, requestsPerMinute: 60 } },
    { rules: { ...rules, maintenance: { message: 'Back soon' } } },
    { host: 'app.test:5432', listen: { protocol: 'TCP', port: 5432 } },
  ]
  for (const one of cold) assert.deepEqual(mapsOf([{ ...route, ...one }]).plain, {}, JSON.stringify(one))
  assert.deepEqual(mapsOf([route, { ...route, path: '/api' }]).plain, {})
})
