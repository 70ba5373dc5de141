import assert from 'node:assert/strict'
import test from 'node:test'
import { platformService, type Route } from '@quayside/contract/routes.ts'
import { endpointKey } from './endpoint-keys.ts'
import { hotBodyBytes } from './hot-routes.ts'
import { HotTable } from './hot-table.ts'
import { linesOf, mapCommands } from './map-changes.ts'

const endpoints = [{ address: '10.0.0.3', port: 8080 }]
const rules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
const route: Route = { host: 'app.test', service: 's', organization: 'o', name: 'shop', endpoints, rules }
const sources = {
  port: '8080',
  tlsPort: '443',
  hasCertificate: (host: string) => host === 'safe.test',
  endpointsOf: (one: Route) => one.endpoints,
}

const keyAt = (address: string, port = 8080): string => endpointKey({ address, port }, route.service)

const mapsOf = (routes: readonly Route[]) => {
  const hosts = new HotTable().hosts(routes, sources)
  const [plain, secure, shares] = (['plain', 'secure', 'shares'] as const).map((name) => linesOf(hosts, name))
  return {
    plain: Object.fromEntries(plain ?? []),
    secure: Object.fromEntries(secure ?? []),
    shares: Object.fromEntries(shares ?? []),
  }
}

test('a plain route is hot at its name, and at its name with the port of clients', () => {
  const line = keyAt('10.0.0.3')
  assert.deepEqual(mapsOf([route]), { plain: { 'app.test': line, 'app.test:8080': line }, secure: {}, shares: {} })
})

test('a route without rules is hot, and one that allows smaller bodies than HAProxy is not', () => {
  const { rules: _, ...bare } = route
  const most = (maxBodyBytes: number): Route => ({ ...route, rules: { ...rules, maxBodyBytes } })
  for (const one of [bare, most(hotBodyBytes)]) assert.equal(mapsOf([one]).plain['app.test'], keyAt('10.0.0.3'))
  assert.deepEqual(mapsOf([most(hotBodyBytes - 1)]).plain, {})
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
  assert.equal(plain['app.test'], '#app.test#')
  const counts = Map.groupBy(Object.values(shares), (label) => label)
  assert.deepEqual(
    [...counts].map(([label, all]) => [label, all.length]),
    [
      [keyAt('10.0.0.3'), 30],
      [keyAt('10.0.0.4'), 30],
    ],
  )
})

test('routes that only the router can serve are not hot', () => {
  const cold: readonly Partial<Route>[] = [
    { canary: { release: 'next', percent: 1, endpoints } },
    { endpoints: [] },
    { asleep: true },
    { path: '/api' },
    { rewrite: '/' },
    { speaksHttp2: true },
    { host: '*.app.test' },
    { service: platformService },
    { endpoints: [{ address: 'fd00::1', port: 8080 }] },
    { rules: { ...rules, sticky: true } },
    { rules: { ...rules, compression: true } },
    { rules: { ...rules, headers: { 'X-A': 'b' } } },
    { rules: { ...rules, readTimeoutMs: 5 } },
    { rules: { ...rules, requestTimeoutMs: 60_000 } },
    { rules: { maxBodyBytes: 10_000 } },
    { rules: { ...rules, requestsPerMinute: 60 } },
    { rules: { ...rules, maintenance: { message: 'Back soon' } } },
    { rules: { ...rules, signIn: { page: 'https://q.test/', key: 'A'.repeat(43), organization: 'o', roles: [] } } },
    { host: 'app.test:5432', listen: { protocol: 'TCP', port: 5432 } },
  ]
  for (const one of cold) assert.deepEqual(mapsOf([{ ...route, ...one }]).plain, {}, JSON.stringify(one))
  assert.deepEqual(mapsOf([route, { ...route, path: '/api' }]).plain, {})
})

const files = { plain: 'plain', secure: 'secure', shares: 'shares' }

test('a change among ten thousand routes computes and sends the lines of the changed route alone', () => {
  const table = new HotTable()
  const routes = Array.from({ length: 10_000 }, (_, index) => ({ ...route, host: `app-${index}.test` }))
  const before = table.hosts(routes, sources)
  assert.equal(table.computed, 10_000)
  routes[5_000] = { ...route, host: 'app-5000.test', endpoints: [{ address: '10.0.0.9', port: 80 }] }
  const after = table.hosts(routes, sources)
  assert.equal(table.computed, 10_001)
  const changed = keyAt('10.0.0.9', 80)
  assert.deepEqual(mapCommands(files, before, after), [
    `set map plain app-5000.test ${changed}; set map plain app-5000.test:8080 ${changed}`,
  ])
  assert.deepEqual(mapCommands(files, after, table.hosts(routes, sources)), [])
})

test('lines follow the certificate and the endpoints of a route', () => {
  const table = new HotTable()
  const safe = { ...route, host: 'safe.test', tls: { from: 'platform', redirects: true } } as const
  const certified = table.hosts([safe], sources)
  assert.equal(linesOf(certified, 'plain').length, 0)
  const bare = table.hosts([safe], { ...sources, hasCertificate: () => false })
  assert.equal(linesOf(bare, 'secure').length, 0)
  assert.equal(linesOf(bare, 'plain').length, 2)
  assert.equal(table.hosts([safe], { ...sources, endpointsOf: () => [] }).size, 0)
})

test('a table with the same hosts has the lines of its changed routes, and none of hosts with several routes', () => {
  const table = new HotTable()
  const two = [
    { ...route, host: 'two.test' },
    { ...route, host: 'two.test', path: '/api' },
  ]
  const at = (one: Partial<Route>, other: Partial<Route> = {}) => {
    const routes = [
      { ...route, ...one },
      ...two.map((each) => ({ ...each, ...other })),
      { ...route, host: 'last.test' },
    ]
    assert.deepEqual(table.hosts(routes, sources), new HotTable().hosts(routes, sources))
    return [...table.hosts(routes, sources).keys()].toSorted()
  }
  const hot = ['app.test', 'last.test']
  assert.deepEqual(at({}), hot)
  assert.deepEqual(at({ asleep: true }), ['last.test'])
  assert.deepEqual(at({}, { service: 'other' }), hot)
  assert.deepEqual(at({ endpoints: [{ address: '10.0.0.9', port: 80 }] }), hot)
  assert.deepEqual(at({ host: 'new.test' }), ['last.test', 'new.test'])
  assert.deepEqual(at({ host: 'two.test' }), ['last.test'])
  assert.deepEqual(at({}), hot)
})

test('names of shares are sent after their shares, and removed before them', () => {
  const two = { ...route, endpoints: [...endpoints, { address: '10.0.0.4', port: 8080 }] }
  const none = new HotTable().hosts([], sources)
  const both = new HotTable().hosts([two], sources)
  const mapsIn = (commands: readonly string[] | undefined): string[] =>
    (commands ?? []).flatMap((line) => [...line.matchAll(/(?:add|del) map (\w+)/g)].map(([, name = '']) => name))
  const [first, ...rest] = mapsIn(mapCommands(files, none, both))
  assert.deepEqual([first, rest.at(-1)], ['shares', 'plain'])
  const removed = mapsIn(mapCommands(files, both, none))
  assert.deepEqual([removed[0], removed.at(-1)], ['plain', 'shares'])
})

test('a line of commands fits into the buffer of HAProxy', () => {
  const hosts = (count: number, port: number) => {
    const routes = Array.from({ length: count }, (_, index) => ({
      ...route,
      host: `${index}-${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.test`,
      endpoints: [{ address: '10.0.0.9', port }],
    }))
    return new HotTable().hosts(routes, sources)
  }
  const longest = (commands: readonly string[] | undefined) => Math.max(...(commands ?? []).map(({ length }) => length))
  assert.ok(longest(mapCommands(files, hosts(0, 80), hosts(1_000, 80))) < 13_000)
  assert.ok(longest(mapCommands(files, hosts(200, 80), hosts(200, 81))) < 13_000)
  assert.equal(mapCommands(files, hosts(1_000, 80), hosts(1_000, 81)), undefined)
})
