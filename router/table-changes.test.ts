import assert from 'node:assert/strict'
import test from 'node:test'
import type { Route, RouteTable } from '@quayside/contract/routes.ts'
import { Routes } from './routes.ts'
import { changedTable, hasSameRoutes, keepUnchanged } from './table-changes.ts'
import { portOf, testBed } from './test-bed.ts'

const route = (host: string, port = 80, path?: string): Route => ({
  host,
  ...(path !== undefined && { path }),
  service: host,
  name: host,
  endpoints: [{ address: '127.0.0.1', port }],
})
const table: RouteTable = { version: 1, routes: [route('a.test'), route('b.test'), route('b.test', 81, '/api')] }

test('changes replace, add and remove routes by their place', () => {
  const put = [route('b.test', 82, '/api'), route('c.test')]
  const { version, routes } = changedTable(table, { from: 1, version: 2, put, gone: ['a.test/'] })
  assert.equal(version, 2)
  assert.deepEqual(routes, [route('b.test'), put[0], put[1]])
  assert.equal(routes[0], table.routes[1])
  const listen = { protocol: 'TCP', port: 5_000 } as const
  const ports = [
    { ...route('a.test:5000'), listen },
    { ...route('c.test:5000'), listen },
  ]
  const wrong = [{ put: [route('a.test'), route('a.test', 81)] }, { put: ports }]
  for (const one of wrong) assert.throws(() => changedTable(table, { from: 1, version: 2, gone: [], ...one }), /twice/)
})

test('a whole table keeps the objects of its unchanged routes', () => {
  const next = keepUnchanged(
    table,
    structuredClone({ version: 2, routes: [route('b.test', 9), ...table.routes.slice(2)] }),
  )
  assert.equal(next.routes[1], table.routes[2])
  assert.deepEqual(next.routes[0], route('b.test', 9))
  const turned = keepUnchanged(table, structuredClone({ version: 1, routes: table.routes.toReversed() }))
  assert.deepEqual([hasSameRoutes(turned, table), hasSameRoutes(next, table)], [true, false])
})

test('lists of people change alone, and unchanged ones keep their objects', () => {
  const people = { 'o/VIEWER': { ada: 0 }, 'o/ADMIN': { bob: 0 } }
  const before = { ...table, people }
  const none = { from: 1, version: 2, put: [], gone: [] }
  assert.equal(changedTable(before, none).people, people)
  const changed = changedTable(before, { ...none, people: { 'o/VIEWER': { ada: 7 }, 'o/ADMIN': null } })
  assert.deepEqual([changed.people, changed.routes], [{ 'o/VIEWER': { ada: 7 } }, table.routes])
  const whole = keepUnchanged(before, structuredClone({ ...before, people: { ...people, 'o/ADMIN': { bob: 7 } } }))
  assert.equal(whole.people?.['o/VIEWER'], people['o/VIEWER'])
  assert.deepEqual([hasSameRoutes(whole, before), hasSameRoutes(keepUnchanged(before, before), before)], [false, true])
  assert.equal(hasSameRoutes(keepUnchanged(before, table), before), false)
})

test('unchanged routes keep their targets when another route changes', () => {
  const routes = new Routes()
  routes.apply(table)
  const [kept, moved] = [routes.find('b.test', '/'), routes.find('a.test')]
  routes.apply(changedTable(table, { from: 1, version: 2, put: [route('a.test', 90)], gone: [] }))
  assert.equal(routes.find('b.test', '/'), kept)
  assert.notEqual(routes.find('a.test'), moved)
  assert.deepEqual(
    routes.find('a.test')?.endpoints.map(({ port }) => port),
    [90],
  )
  routes.apply(changedTable(table, { from: 2, version: 3, put: [], gone: ['b.test/api'] }))
  assert.equal(routes.find('b.test', '/x')?.byPath, false)
})

test('an endpoint that a route lists twice is one endpoint', () => {
  const routes = new Routes()
  const [one] = route('a.test').endpoints
  routes.apply({ version: 1, routes: [{ ...route('a.test'), endpoints: one ? [one, one] : [] }] })
  const [first, second] = routes.find('a.test')?.endpoints ?? []
  assert.equal(first, second)
})

test('the control server applies changes to the version that they name', async (t) => {
  const bed = await testBed(t)
  const app = await bed.application((_, response) => response.end('here'))
  await bed.tell('PUT', '/routes', { version: 5, routes: [route('app.localhost', portOf(app)), route('b.test')] })
  const put = [route('c.localhost', portOf(app))]
  const changes = { from: 5, version: 6, put, gone: ['app.localhost/'] }
  const stale = await bed.tell('PATCH', '/routes', { ...changes, from: 4 })
  assert.deepEqual([stale.status, stale.body['version']], [409, 5])
  assert.deepEqual(await bed.tell('PATCH', '/routes', changes), { status: 200, body: { version: 6, kept: true } })
  assert.equal((await bed.ask({ host: 'c.localhost' })).body, 'here')
  assert.equal((await bed.ask()).status, 404)
  assert.deepEqual((await bed.tell('GET', '/routes')).body, { version: 6, routes: [route('b.test'), ...put] })
  assert.equal((await bed.tell('PATCH', '/routes', changes)).status, 409)
  const wrong: [object, RegExp][] = [
    [{ ...changes, from: 6, version: 6 }, /^version/],
    [{ from: 6, version: 7, put: [route('A.test')], gone: [] }, /^put\[0\].host/],
    [{ from: 6, version: 7, put: [], gone: [1] }, /^gone/],
    [{ from: 6, version: 7, put: [route('d.test'), route('d.test')], gone: [] }, /twice/],
  ]
  for (const [body, message] of wrong) {
    const answer = await bed.tell('PATCH', '/routes', body)
    assert.equal(answer.status, 400)
    assert.match(String(answer.body['message']), message)
  }
})
