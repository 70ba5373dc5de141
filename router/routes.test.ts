import assert from 'node:assert/strict'
import test from 'node:test'
import { leastBusy } from './choose-endpoint.ts'
import { Endpoint } from './endpoint.ts'
import { limits } from './limits.ts'
import { Routes } from './routes.ts'

const endpoint = (port: number, open = 0): Endpoint => {
  const made = new Endpoint({ address: '127.0.0.1', port })
  made.open = open
  return made
}

test('leastBusy takes turns between equal endpoints, and avoided ones only without others', () => {
  const [a, b, c] = [endpoint(1, 2), endpoint(2, 1), endpoint(3, 1)]
  assert.equal(leastBusy([a, b, c], 0, 0), b)
  assert.equal(leastBusy([a, b, c], 2, 0), c)
  b.asideUntil = 100
  c.asideUntil = 100
  assert.equal(leastBusy([a, b, c], 0, 50), a)
  assert.equal(leastBusy([a, b, c], 0, 100), b)
  a.open = limits.openPerEndpoint
  assert.equal(leastBusy([a, b, c], 0, 50), b)
  assert.equal(leastBusy([a], 0, 0), undefined)
  assert.equal(leastBusy([], 0, 0), undefined)
})

test('an endpoint keeps its counts across tables until it is unlisted and idle', async () => {
  const routes = new Routes()
  const endpoints = [{ address: '127.0.0.1', port: 1 }]
  const route = { host: 'a.test', service: 's', name: 'a', endpoints }
  routes.apply({ version: 1, routes: [route] })
  const first = routes.find('a.test')?.endpoints[0]
  assert.ok(first)
  first.hold()
  routes.apply({ version: 2, routes: [] })
  const stopped = new AbortController()
  assert.equal(await routes.drain(endpoints, 5, stopped.signal), 1)
  routes.apply({ version: 3, routes: [route] })
  assert.equal(routes.find('a.test')?.endpoints[0], first)
  routes.apply({ version: 4, routes: [] })
  const waiting = routes.drain(endpoints, 60_000, stopped.signal)
  first.release()
  assert.equal(await waiting, 0)
  routes.apply({ version: 5, routes: [route] })
  assert.notEqual(routes.find('a.test')?.endpoints[0], first)
})

test('drain ends when its signal aborts', async () => {
  const routes = new Routes()
  const endpoints = [{ address: '127.0.0.1', port: 1 }]
  routes.apply({ version: 1, routes: [{ host: 'a.test', service: 's', name: 'a', endpoints }] })
  routes.find('a.test')?.endpoints[0]?.hold()
  const stopped = new AbortController()
  const waiting = routes.drain(endpoints, 60_000, stopped.signal)
  stopped.abort()
  assert.equal(await waiting, 1)
})

test('a wildcard matches hosts with one more label and no own route', () => {
  const routes = new Routes()
  const route = (host: string) => ({ host, service: host, name: host, endpoints: [] })
  routes.apply({ version: 1, routes: ['*.a.test', 'b.a.test', 'a.test'].map(route) })
  const found = ['x.a.test', 'b.a.test', 'a.test', 'x.y.a.test', 'test', 'xa.test'].map((host) => routes.find(host))
  assert.deepEqual(
    found.map((target) => target?.route.host),
    ['*.a.test', 'b.a.test', 'a.test', undefined, undefined, undefined],
  )
})
