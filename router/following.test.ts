import assert from 'node:assert/strict'
import test from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { Following } from './following.ts'
import { silentLog } from './log.ts'
import { Routes } from './routes.ts'

const endpoint = (address: string) => ({ address, port: 8080 })
const route: Route = {
  host: 'app.test',
  service: 's',
  name: 'shop',
  endpoints: [endpoint('10.0.0.1')],
  follow: 'a.b.svc',
}
const other: Route = { ...route, host: 'other.test', follow: 'c.b.svc' }

/** A router whose names have these addresses. Undefined: nobody can say. */
function bed(names: Record<string, readonly string[] | undefined>) {
  const routes = new Routes()
  routes.apply({ version: 1, routes: [route, other] })
  const presence = { isAway: true }
  const following = new Following({ routes, presence, log: silentLog, resolve: async (name) => names[name] })
  const addresses = () => [route, other].map((one) => routes.endpointsOf(one).map(({ address }) => address))
  return { routes, presence, following, addresses, names }
}

test('routes follow the names of their replicas while the control plane is away', async () => {
  const { following, addresses, presence } = bed({ 'a.b.svc': ['10.0.0.3', '10.0.0.2'] })
  presence.isAway = false
  await following.look()
  assert.deepEqual(addresses(), [['10.0.0.1'], ['10.0.0.1']])
  presence.isAway = true
  await following.look()
  assert.deepEqual(addresses(), [['10.0.0.2', '10.0.0.3'], ['10.0.0.1']])
})

test('a route without any ready replica loses its endpoints at the second look', async () => {
  const { following, addresses } = bed({ 'a.b.svc': [] })
  await following.look()
  assert.deepEqual(addresses(), [['10.0.0.1'], ['10.0.0.1']])
  await following.look()
  assert.deepEqual(addresses(), [[], ['10.0.0.1']])
})

test('the table of the control plane applies again when it returns', async () => {
  const { following, addresses, routes, names } = bed({ 'a.b.svc': ['10.0.0.2'] })
  await following.look()
  assert.deepEqual(addresses()[0], ['10.0.0.2'])
  assert.equal(routes.table.version, 1)
  following.reset()
  assert.deepEqual(addresses()[0], ['10.0.0.1'])
  names['a.b.svc'] = undefined
  await following.look()
  assert.deepEqual(addresses()[0], ['10.0.0.1'])
})

test('a new version follows its own name, and has no share without any ready replica', async () => {
  const canary = { release: 'next', percent: 50, endpoints: [endpoint('10.0.1.1')], follow: 'next.b.svc' }
  const trying: Route = { ...route, canary }
  const { following, routes, names } = bed({ 'a.b.svc': ['10.0.0.1'], 'next.b.svc': ['10.0.1.2'] })
  routes.apply({ version: 2, routes: [trying] })
  const leads = () => routes.trialEndpointsOf(trying).map(({ address }) => address)
  assert.deepEqual(leads(), ['10.0.1.1'])
  await following.look()
  assert.deepEqual(leads(), ['10.0.1.2'])
  names['next.b.svc'] = []
  await following.look()
  await following.look()
  assert.deepEqual([leads(), routes.endpointsOf(trying).length], [[], 1])
  following.reset()
  assert.deepEqual(leads(), ['10.0.1.1'])
})
