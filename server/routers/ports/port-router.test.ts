import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { createFakeRouter } from '../fake/fake-router.ts'
import { createMemoryCluster } from '../ingress/testing.ts'
import { RoutesRefusedError } from '../routes-refused.ts'
import { createPortRouter } from './port-router.ts'

const { signal } = new AbortController()
const labels = { 'quayside.io/route': 'port' }
const port = (more: Partial<Route> = {}): Route => ({
  host: 'shop.test:30001',
  listen: { protocol: 'TCP', port: 30_001 },
  service: 'shop',
  name: 'shop',
  endpoints: [{ address: '10.0.0.1', port: 5432 }],
  replicas: { environment: 'space', release: 'one' },
  ...more,
})
const page: Route = { host: 'shop.test', service: 'shop', name: 'shop', endpoints: [{ address: '10.0.0.1', port: 80 }] }

function open() {
  const cluster = createMemoryCluster()
  const http = createFakeRouter()
  const podsOf = ({ environment: namespace, release }: NonNullable<Route['replicas']>) => ({
    namespace,
    labels: { release },
  })
  const setting = { labels, portType: 'NodePort', podsOf } as const
  return { cluster, http, router: createPortRouter({ kube: cluster.kube, clock, setting, router: http }) }
}

test('ports are Services, and another router carries HTTP', async () => {
  const { cluster, http, router } = open()
  cluster.put({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'route-1', namespace: 'space', labels: { 'quayside.io/route': 'true' } },
  })
  await router.replaceAll([page, port()], signal)
  assert.deepEqual(http.routes, [page])
  await router.replaceAll([page, port()], signal)
  const names = cluster.writes.map((write) => write.replace(/port-[0-9a-f]{16}-/, 'port-'))
  assert.deepEqual(names, ['apply NetworkPolicy space/port-tcp-30001', 'apply Service space/port-tcp-30001'])
  cluster.writes.length = 0
  await router.replaceAll([page], signal)
  assert.equal(cluster.writes.length, 2)
  assert.ok(
    cluster.writes.every((write) => write.startsWith('remove ') && !write.includes('route-1')),
    String(cluster.writes),
  )
})

test('a table without ports asks the cluster for nothing once it has none', async () => {
  const { cluster, http, router } = open()
  await router.replaceAll([], signal)
  cluster.isAway = true
  await router.replaceAll([page], signal)
  assert.deepEqual(http.routes, [page])
  assert.deepEqual(await router.portAddresses(signal), [])
  await assert.rejects(router.replaceAll([page, port()], signal), { code: 'unavailable' })
})

test('what the other router and the cluster refuse is reported by service, and the rest is applied', async () => {
  const { cluster, http, router } = open()
  const given = new RoutesRefusedError(new Map([['page', 'its host is taken']]))
  const refusing = { ...http, replaceAll: () => Promise.reject(given) }
  const setting = { labels, portType: 'NodePort', podsOf: () => ({ namespace: 'space', labels: {} }) } as const
  const both = createPortRouter({ kube: cluster.kube, clock, setting, router: refusing })
  cluster.refuse = ({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-30002')
  const table = [
    port(),
    port({ service: 'other', listen: { protocol: 'UDP', port: 30_002 } }),
    port({ service: 'closed', listen: { protocol: 'TCP', port: 30_003 }, rules: { deny: ['192.0.2.0/24'] } }),
  ]
  await assert.rejects(both.replaceAll(table, signal), (error: unknown) => {
    assert.ok(error instanceof RoutesRefusedError)
    assert.deepEqual([...error.services.keys()].toSorted(), ['closed', 'other', 'page'])
    return true
  })
  assert.ok(cluster.writes.some((write) => /^apply Service .*-30001$/.test(write)))
  assert.ok(!cluster.writes.some((write) => write.includes('30003')))
  await router.replaceAll([], signal)
})
