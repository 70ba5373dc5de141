import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFakeRouter } from './fake/fake-router.ts'
import { allClusters, createRouters, NoRouterError, serves } from './routers.ts'

const [here, there] = [createFakeRouter(), createFakeRouter()]
const routers = createRouters([
  { name: 'local', router: here },
  { name: 'second', router: here },
  { name: 'far', router: there },
])

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

test('createRouters throws without a router, or when an engine has two', () => {
  const one = { name: 'local', router: here }
  assert.throws(() => createRouters([one, one]), /an engine has two routers/)
  assert.throws(() => createRouters([]), /there is no router/)
})
