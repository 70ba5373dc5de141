import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { nameRoutes } from './release-names.ts'

const setting = {
  routeLabels: { kind: 'route' },
  podsOf: ({ environment, release }: { environment: string; release: string }) => ({
    namespace: environment,
    labels: { release },
  }),
}
const endpoints = [{ address: '10.0.0.1', port: 80 }]
const route: Route = {
  host: 'app.test',
  service: 's',
  name: 'shop',
  endpoints,
  replicas: { environment: 'e', release: 'one' },
}

test('a route and its new version have names of their own, whose Services select their pods', () => {
  const [named] = nameRoutes([{ ...route, canary: { release: 'two', percent: 5, endpoints } }], setting)
  const { follow, canary } = named?.route ?? assert.fail()
  assert.notEqual(follow, canary?.follow)
  const found = (named?.services ?? []).map(({ metadata: { name, namespace }, ...more }) => [
    `${name}.${namespace}.svc`,
    Object(more).spec.selector,
  ])
  assert.deepEqual(found, [
    [follow, { release: 'one' }],
    [canary?.follow, { release: 'two' }],
  ])
})

test('a new version keeps its name when it becomes the only one', () => {
  const [trying] = nameRoutes([{ ...route, canary: { release: 'two', percent: 5, endpoints } }], setting)
  const [alone] = nameRoutes([{ ...route, replicas: { environment: 'e', release: 'two' } }], setting)
  assert.equal(alone?.route.follow, trying?.route.canary?.follow)
})

test('a route without a running previous version has the name of its new version only', () => {
  const [named] = nameRoutes([{ ...route, endpoints: [], canary: { release: 'two', percent: 5, endpoints } }], setting)
  assert.equal(named?.route.follow, undefined)
  assert.equal(named?.services.length, 1)
})
