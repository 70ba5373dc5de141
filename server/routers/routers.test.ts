import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoster } from '../lib/roster.ts'
import { createFakeRouter } from './fake/fake-router.ts'
import { allClusters, createRouters, NoRouterError, serves } from './routers.ts'

const [here, there] = [createFakeRouter(), createFakeRouter()]
const roster = createRoster([
  { name: 'local', router: here },
  { name: 'second', router: here },
  { name: 'far', router: there },
])
const routers = createRouters(roster)

test('routerOf returns the router of the engine of a cluster, and the first one for a record', () => {
  assert.equal(routers.routerOf({ engine: 'local' }), here)
  assert.equal(routers.routerOf({ engine: 'second' }), here)
  assert.equal(routers.routerOf({ engine: 'far' }), there)
  assert.equal(routers.routerOf({ engine: null }), here)
  assert.throws(() => routers.routerOf({ engine: 'elsewhere' }), NoRouterError)
})

test('each router is listed once, and every cluster is served by exactly one', () => {
  assert.deepEqual(
    routers.all.map(({ name, router }) => [name, router === here]),
    [
      ['local', true],
      ['far', false],
    ],
  )
  for (const engine of ['local', 'second', 'far', 'gone', null]) {
    const serving = routers.all.filter(({ scope }) => serves(scope, { engine }))
    assert.deepEqual(
      serving.map(({ name }) => name),
      [engine === 'far' ? 'far' : 'local'],
    )
    assert.ok(serves(allClusters, { engine }))
  }
})

test('the routers are the same list until one comes or leaves', () => {
  const changing = createRoster([{ name: 'local', router: here }])
  const { all, each } = createRouters(changing)
  const current = createRouters(changing)
  const names = each(({ name }) => name)
  assert.equal(current.all, current.all)
  assert.equal(names.all, names.all)
  const before = current.all
  changing.add({ name: 'far', router: there })
  assert.notEqual(current.all, before)
  assert.deepEqual([all.length, names.all], [1, ['local', 'far']])
})

test('a router that comes takes its clusters from the first one, and returns them when it leaves', () => {
  const late = createFakeRouter()
  const servingLate = () =>
    routers.all.filter(({ scope }) => serves(scope, { engine: 'late' })).map(({ router }) => router)
  const scopes = routers.each(({ scope }) => scope)
  const [firstScope] = scopes.all
  assert.deepEqual(servingLate(), [here])
  roster.add({ name: 'late', router: late })
  assert.deepEqual(servingLate(), [late])
  assert.equal(scopes.all[0], firstScope)
  assert.equal(scopes.all.length, 3)
  assert.deepEqual(firstScope?.engines, ['far', 'late'])
  roster.remove('late')
  assert.deepEqual(servingLate(), [here])
})

test('createRouters throws without a router', () => {
  assert.throws(() => createRouters(createRoster()), /there is no router/)
})
