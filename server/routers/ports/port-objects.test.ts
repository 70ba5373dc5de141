import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../ingress/kube-objects.ts'
import { portAddresses } from './port-addresses.ts'
import { type PortRoute, type PortSetting, portName, portObjects } from './port-objects.ts'

const setting: PortSetting = {
  labels: { 'quayside.io/instance': 'here', 'quayside.io/route': 'port' },
  portType: 'NodePort',
  podsOf: ({ environment, service, release }) => ({
    namespace: `quayside-${environment}`,
    labels: { service, release },
  }),
}
const route = (more: Partial<PortRoute> = {}): PortRoute => ({
  host: 'shop.example.org:30001',
  listen: { protocol: 'TCP', port: 30_001 },
  service: 'shop-id',
  name: 'shop',
  endpoints: [{ address: '10.0.0.1', port: 5432 }],
  replicas: { environment: 'e1', release: 'r1' },
  ...more,
})
const stopped = route({ endpoints: [] })
const objectsOf = (one: PortRoute, found: readonly KubeObject[] = [], more: Partial<PortSetting> = {}) =>
  portObjects([one], { ...setting, ...more }, found).map((object) => Object(object))

test('a port is a Service that selects the pods of its release, and everybody may reach them there', () => {
  const [policy, service] = objectsOf(route())
  assert.deepEqual(service.spec, {
    type: 'NodePort',
    selector: { service: 'shop-id', release: 'r1' },
    ports: [{ name: 'public', protocol: 'TCP', port: 30_001, targetPort: 5432 }],
  })
  assert.match(service.metadata.name, /^port-[0-9a-f]{16}-tcp-30001$/)
  assert.equal(service.metadata.namespace, 'quayside-e1')
  assert.deepEqual(policy.spec, {
    podSelector: { matchLabels: { service: 'shop-id', release: 'r1' } },
    policyTypes: ['Ingress'],
    ingress: [{ ports: [{ protocol: 'TCP', port: 5432 }] }],
  })
})

test('moving traffic changes only the selectors', () => {
  const before = objectsOf(route())
  const after = objectsOf(route({ replicas: { environment: 'e1', release: 'r2' } }))
  assert.deepEqual(after, JSON.parse(JSON.stringify(before).replaceAll('"r1"', '"r2"')))
})

test('a stopped service keeps the Service of its port, without pods, and gets none if it has none', () => {
  const [, former] = objectsOf(route())
  const [idle, ...others] = objectsOf(stopped, [former])
  assert.deepEqual(others, [])
  assert.deepEqual([idle.metadata, idle.spec.selector], [former.metadata, setting.labels])
  assert.deepEqual(objectsOf(stopped), [])
})

test('a port whose clients must be checked leads nowhere', () => {
  const closed = route({ rules: { allow: ['192.0.2.0/24'] } })
  assert.deepEqual(objectsOf(closed), [])
  const [, former] = objectsOf(route())
  assert.deepEqual(objectsOf(closed, [former])[0].spec.selector, setting.labels)
})

const node = (name: string, addresses: Readonly<Record<string, string>>, status = 'True') => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: {
    conditions: [{ type: 'Ready', status }],
    addresses: Object.entries(addresses).map(([type, address]) => ({ type, address })),
  },
})
const service = (more: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: portName(route()) },
  ...more,
})
const at = (type: PortSetting['portType'], services: readonly KubeObject[], nodes: readonly KubeObject[] = []) =>
  portAddresses([route(), stopped], type, { services, nodes }).map(({ reached }) => reached)

test('a port of the nodes is reached at a ready node, if possible at its outer address', () => {
  const open = [service({ spec: { ports: [{ nodePort: 31_234 }] } })]
  const inner = node('a', { InternalIP: '10.0.0.1' })
  assert.deepEqual(at('NodePort', open, [inner]), [{ host: '10.0.0.1', port: 31_234 }])
  const nodes = [inner, node('c', { ExternalIP: '203.0.113.2' }, 'False'), node('b', { ExternalIP: '203.0.113.1' })]
  assert.deepEqual(at('NodePort', open, nodes), [{ host: '203.0.113.1', port: 31_234 }])
  assert.match(JSON.stringify(at('NodePort', open, [node('a', { InternalIP: '10.0.0.1' }, 'False')])), /no node/)
})

test('a port is reached at the address of its load balancer, or says that it has none', () => {
  const balanced = (one: object) => [service({ status: { loadBalancer: { ingress: [one] } } })]
  assert.deepEqual(at('LoadBalancer', balanced({ ip: '203.0.113.9' })), [{ host: '203.0.113.9', port: 30_001 }])
  assert.deepEqual(at('LoadBalancer', balanced({ hostname: 'lb.example.org' })), [
    { host: 'lb.example.org', port: 30_001 },
  ])
  for (const services of [[service({})], balanced({ ip: 'x', hostname: 'a/../b@c' })]) {
    assert.match(JSON.stringify(at('LoadBalancer', services)), /assigned no address .*QUAYSIDE_CLUSTER_PORTS=NodePort/)
  }
  assert.match(JSON.stringify(at('LoadBalancer', [])), /does not exist yet/)
})

test('what a hostile cluster answers is no address', () => {
  for (const spec of [{ ports: [{ nodePort: '31234' }] }, { ports: [{ nodePort: 70_000 }] }, {}]) {
    assert.match(JSON.stringify(at('NodePort', [service({ spec })], [])), /no port of the nodes/)
  }
  const strange = { ...node('a', {}), status: { conditions: 5, addresses: 'x' } }
  assert.match(JSON.stringify(at('NodePort', [service({ spec: { ports: [{ nodePort: 1 }] } })], [strange])), /no node/)
  const loadBalancer = { ingress: 'x' }
  assert.match(JSON.stringify(at('LoadBalancer', [service({ status: { loadBalancer } })])), /assigned no address/)
})
