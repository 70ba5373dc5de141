import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { RoutesRefusedError } from '../routes-refused.ts'
import { controllerLagMs, createIngressRouter } from './ingress-router.ts'
import type { KubeObject } from './kube-objects.ts'
import { createMemoryCluster } from './testing.ts'

const { signal } = new AbortController()
const idleNamespace = 'quayside-routes-here'

const setting = {
  labels: { 'quayside.io/instance': 'here' },
  issuedLabels: { 'quayside.io/instance': 'here', 'quayside.io/route': 'certificate' },
  idleNamespace,
  givenNamespace: 'quayside-certificates-here',
  usual: {},
  podsOf: ({ environment, service, release }: Record<'environment' | 'service' | 'release', string>) => ({
    namespace: environment,
    labels: { service, release },
  }),
} as const

const route = (host: string, more: Partial<Route> = {}): Route => ({
  host,
  service: `service of ${host}`,
  name: 'shop',
  endpoints: [{ address: '10.0.0.1', port: 8080 }],
  replicas: { environment: 'e1', release: 'r1' },
  ...more,
})
const stopped = (host: string, more: Partial<Route> = {}): Route => route(host, { endpoints: [], ...more })

function open() {
  const cluster = createMemoryCluster()
  let nowMs = 0
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  const clock: Clock = { now: () => new Date(nowMs), monotonic: () => nowMs, sleep: pass }
  return {
    cluster,
    pass,
    clock,
    router: createIngressRouter({ kube: cluster.kube, setting, clock, className: undefined }),
  }
}

test('ingress router: writes what changed, and removes what nothing needs', async () => {
  const { cluster, router, pass } = open()
  await router.replaceAll([route('a.test'), route('b.test')], signal)
  assert.deepEqual(cluster.hosts(), ['e1 a.test', 'e1 b.test'])
  cluster.writes.length = 0
  await router.replaceAll([route('a.test'), route('b.test')], signal)
  assert.equal(cluster.writes.length, 0)
  const next = [route('a.test', { replicas: { environment: 'e1', release: 'r2' } })]
  await router.replaceAll(next, signal)
  const writes = () => cluster.writes.splice(0).map((write) => write.replace(/[0-9a-f]{16}/, 'hash'))
  assert.deepEqual(writes(), ['apply Service e1/route-hash-8080', 'remove Ingress e1/route-hash'])
  await router.replaceAll(next, signal)
  assert.deepEqual(writes(), [])
  await pass(controllerLagMs)
  await router.replaceAll(next, signal)
  assert.deepEqual(writes(), ['remove Service e1/route-hash-8080'])
})

test('ingress router: writes an object again that somebody else changed or removed', async () => {
  const { cluster, router } = open()
  await router.replaceAll([route('a.test')], signal)
  cluster.change('Ingress')
  await router.replaceAll([route('a.test')], signal)
  cluster.drop('Service')
  cluster.writes.length = 0
  await router.replaceAll([route('a.test')], signal)
  assert.equal(cluster.writes.length, 1)
  assert.match(String(cluster.writes[0]), /^apply Service/)
})

test('ingress router: a host has one Ingress at every moment, also when its service stops', async () => {
  const { cluster, router } = open()
  await router.replaceAll([route('a.test')], signal)
  await router.replaceAll([stopped('a.test')], signal)
  assert.deepEqual(cluster.hosts(), [`${idleNamespace} a.test`])
  await router.replaceAll([route('a.test')], signal)
  assert.deepEqual(cluster.hosts(), ['e1 a.test'])
  assert.equal(cluster.mostIngresses, 1)
})

test('ingress router: refuses a namespace of somebody else', async () => {
  const { cluster, router } = open()
  cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: idleNamespace } })
  await assert.rejects(
    router.replaceAll([stopped('a.test')], signal),
    /quayside-routes-here .* belongs to somebody else/,
  )
})

test('ingress router: a refused route does not keep others from the cluster', async () => {
  const { cluster, router } = open()
  cluster.refuse = ({ kind, metadata }) => kind === 'Ingress' && metadata.namespace === 'bad'
  const bad = route('bad.test', { replicas: { environment: 'bad', release: 'r1' } })
  await assert.rejects(router.replaceAll([bad, route('good.test')], signal), (error) => {
    assert.ok(error instanceof RoutesRefusedError)
    assert.deepEqual([...error.services.keys()], ['service of bad.test'])
    assert.match(String(error.services.get('service of bad.test')), /^Ingress route-.*: refused by a test$/)
    return true
  })
  assert.deepEqual(cluster.hosts(), ['e1 good.test'])
})

test('ingress router: reports an API server that is away as unavailable', async () => {
  const { cluster, router } = open()
  cluster.isAway = true
  await assert.rejects(
    router.replaceAll([route('a.test')], signal),
    (error) => error instanceof AppError && error.code === 'unavailable',
  )
  cluster.isAway = false
  await router.replaceAll([route('a.test')], signal)
  assert.deepEqual(cluster.hosts(), ['e1 a.test'])
})

test('ingress router: uses Middlewares if the cluster has them', async () => {
  const protectedRoute = route('a.test', { rules: { allow: ['10.0.0.0/8'] } })
  const { cluster, router } = open()
  await router.replaceAll([protectedRoute], signal)
  assert.deepEqual(cluster.hosts(), ['e1 a.test'])
  cluster.hasTraefikKinds = false
  await assert.rejects(router.replaceAll([protectedRoute], signal), /its rule allow cannot be applied/)
  assert.deepEqual(cluster.hosts(), [`${idleNamespace} a.test`])
})

test('ingress router: a new rule of a host with requests waits until the controller knows its objects', async () => {
  const { cluster, router, clock } = open()
  await router.replaceAll([route('a.test')], signal)
  const before = clock.monotonic()
  await router.replaceAll([route('a.test', { rules: { allow: ['10.0.0.0/8'] } })], signal)
  assert.equal(clock.monotonic() - before, controllerLagMs)
  assert.match(String(cluster.writes.at(-1)), /^apply Ingress/)
})

/** An EndpointSlice of the Service with the name that the router gave it. */
function sliceOf(cluster: ReturnType<typeof createMemoryCluster>, addresses: readonly string[]): KubeObject {
  const name = /Service e1\/(\S+)/.exec(cluster.writes.join('\n'))?.[1] ?? ''
  const metadata = { namespace: 'e1', name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } }
  const slice = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, endpoints: [{ addresses }] }
  return slice
}

test('ingress router: replicas leave once the cluster has followed, and the controller had its time after that', async () => {
  const { cluster, router, clock } = open()
  await router.replaceAll([route('a.test', { endpoints: [{ address: '10.0.0.2', port: 8080 }] })], signal)
  cluster.slices = (times) => [sliceOf(cluster, [times <= 40 ? '10.0.0.1' : '10.0.0.2'])]
  const before = clock.monotonic()
  assert.equal(await router.drained([{ address: '10.0.0.1', port: 8080 }], 30_000, signal), 0)
  assert.equal(clock.monotonic() - before, 40 * 250 + controllerLagMs)
})

test('ingress router: replicas leave after their time when the cluster never follows', async () => {
  const { cluster, router, clock } = open()
  await router.replaceAll([route('a.test', { endpoints: [{ address: '10.0.0.2', port: 8080 }] })], signal)
  cluster.slices = () => [sliceOf(cluster, ['10.0.0.1'])]
  const before = clock.monotonic()
  await router.drained([{ address: '10.0.0.1', port: 8080 }], 30_000, signal)
  assert.equal(clock.monotonic() - before, 30_000)
})

test('ingress router: some replicas of a release leave although their Service still selects them', async () => {
  const { cluster, router, clock } = open()
  await router.replaceAll([route('a.test', { endpoints: [{ address: '10.0.0.2', port: 8080 }] })], signal)
  cluster.slices = () => [sliceOf(cluster, ['10.0.0.1', '10.0.0.2'])]
  const before = clock.monotonic()
  await router.drained([{ address: '10.0.0.1', port: 8080 }], 30_000, signal)
  assert.equal(clock.monotonic() - before, controllerLagMs)
})

test('ingress router: replicas leave after the time of the controller when slices may not be listed', async () => {
  const { cluster, router, clock } = open()
  await router.replaceAll([route('a.test', { endpoints: [{ address: '10.0.0.2', port: 8080 }] })], signal)
  cluster.slices = () => {
    throw Object.assign(new Error('forbidden'), { status: 403 })
  }
  const before = clock.monotonic()
  await router.drained([{ address: '10.0.0.1', port: 8080 }], 30_000, signal)
  assert.equal(clock.monotonic() - before, controllerLagMs)
})

test('ingress router: wakes sleeping services at once, and puts none to sleep', async () => {
  const { kube } = createMemoryCluster()
  const router = createIngressRouter({ kube, setting, clock: systemClock, className: undefined })
  const table = [stopped('a.test', { asleep: true }), stopped('b.test', { asleep: true }), route('c.test')]
  const waiting = router.wakes(-1, 10_000, signal)
  await router.replaceAll(table, signal)
  const { sequence, services } = await waiting
  assert.deepEqual(services, ['service of a.test', 'service of b.test'])
  assert.deepEqual((await router.wakes(-1, 10_000, signal)).services, services)
  assert.deepEqual(await router.wakes(sequence, 1, signal), { sequence, services })
  await assert.rejects(router.wakes(sequence, 10_000, AbortSignal.abort(new Error('called off'))), /called off/)
  assert.deepEqual(await router.activity(signal), new Map([['service of c.test', { requests: 0, open: 1 }]]))
})

test('ingress router: reports that rules do not act with a controller other than Traefik', async () => {
  const { cluster, router } = open()
  assert.deepEqual(await router.listFindings(signal), [])
  cluster.classes = [nginxClass]
  const [finding, ...more] = await router.listFindings(signal)
  assert.match(String(finding?.message), /ingress class "nginx" is not Traefik.*To use rules, install Traefik/)
  assert.deepEqual([finding?.isBlocking, more], [false, []])
})

test('ingress router: leads a protected route of a class of ingress-nginx nowhere, with the reason', async () => {
  const { cluster, router } = open()
  cluster.classes = [nginxClass]
  const rules = { allow: ['192.0.2.0/24'] }
  await assert.rejects(router.replaceAll([route('free.test'), route('closed.test', { rules })], signal), {
    name: 'RoutesRefusedError',
    message: /its rule allow cannot be applied: the platform writes rules only for Traefik/,
  })
  assert.deepEqual(cluster.hosts(), ['e1 free.test', `${idleNamespace} closed.test`])
})

const nginxClass = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  metadata: { name: 'nginx' },
  spec: { controller: 'k8s.io/ingress-nginx' },
}
