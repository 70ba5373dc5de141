import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { heldBack, type IngressSetting, ingressObjects } from './ingress-objects.ts'

const setting: IngressSetting = {
  ingressClass: 'public',
  controller: 'traefik',
  hasTraefikKinds: true,
  labels: { 'quayside.io/instance': 'here' },
  idleNamespace: 'quayside-routes-here',
  certificates: new Map(),
  usual: {},
  podsOf: ({ environment, service, release }) => ({
    namespace: `quayside-${environment}`,
    labels: { service, release },
  }),
}

const route = (more: Partial<Route> = {}): Route => ({
  host: 'shop.example.org',
  service: 'shop-id',
  name: 'shop',
  endpoints: [{ address: '10.0.0.1', port: 8080 }],
  replicas: { environment: 'e1', release: 'r1' },
  ...more,
})

const objectsOf = (...routes: readonly Route[]) => ingressObjects(routes, setting).map((object) => Object(object))
const namesOf = (...routes: readonly Route[]) =>
  objectsOf(...routes).map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)

test('a route is an Ingress, and a Service that selects the pods of its release', () => {
  assert.deepEqual(objectsOf(route()), [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        namespace: 'quayside-e1',
        labels: { 'quayside.io/instance': 'here' },
        name: 'route-5b7342dcacc94511-8080',
        annotations: { 'quayside.io/route-of': 'shop-id' },
      },
      spec: {
        ports: [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 8080 }],
        selector: { service: 'shop-id', release: 'r1' },
      },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: {
        namespace: 'quayside-e1',
        labels: { 'quayside.io/instance': 'here' },
        name: 'route-e1f18e123b65f727',
        annotations: {
          'quayside.io/route-of': 'shop-id',
          'traefik.ingress.kubernetes.io/router.priority': '10001',
        },
      },
      spec: {
        ingressClassName: 'public',
        rules: [
          {
            host: 'shop.example.org',
            http: {
              paths: [
                {
                  path: '/',
                  pathType: 'Prefix',
                  backend: { service: { name: 'route-5b7342dcacc94511-8080', port: { number: 8080 } } },
                },
              ],
            },
          },
        ],
      },
    },
  ])
})

test('only the selector changes when another release gets the traffic', () => {
  const [before, after] = ['r1', 'r2'].map((release) => objectsOf(route({ replicas: { environment: 'e1', release } })))
  assert.deepEqual(after?.[0].spec.selector, { service: 'shop-id', release: 'r2' })
  assert.deepEqual({ ...before?.[0], spec: undefined }, { ...after?.[0], spec: undefined })
  assert.deepEqual(before?.[1], after?.[1])
})

test('hosts of one port share a Service, and each has an Ingress', () => {
  const names = namesOf(route(), route({ host: 'www.example.org' }), route({ host: '*.example.net' }))
  assert.deepEqual(
    names.map((name) => name.replace(/[0-9a-f]{16}/, 'hash')),
    ['Service quayside-e1/route-hash-8080', ...Array(3).fill('Ingress quayside-e1/route-hash')],
  )
  assert.equal(new Set(names).size, 4)
})

test('a path matches itself and the paths below it, and no longer name', () => {
  const [, ingress] = objectsOf(route({ path: '/api/v1' }))
  const [{ http }] = ingress.spec.rules
  assert.deepEqual(
    http.paths.map(({ path, pathType }: { path: string; pathType: string }) => [path, pathType]),
    [
      ['/api/v1', 'Exact'],
      ['/api/v1/', 'Prefix'],
    ],
  )
  assert.equal(ingress.metadata.annotations['traefik.ingress.kubernetes.io/router.priority'], '10008')
})

test('a route without endpoints leads to a Service without pods, in the namespace of the router', () => {
  const stopped = route({ endpoints: [], reason: 'it is stopped' })
  const [service, ingress] = objectsOf({ ...stopped, rules: { allow: ['10.0.0.0/8'] } })
  assert.deepEqual(service.metadata, {
    namespace: 'quayside-routes-here',
    labels: { 'quayside.io/instance': 'here' },
    name: 'route-idle',
  })
  assert.equal(service.spec.selector, undefined)
  assert.equal(ingress.metadata.namespace, 'quayside-routes-here')
  assert.equal(ingress.spec.rules[0].http.paths[0].backend.service.name, 'route-idle')
  assert.equal(ingress.metadata.name, objectsOf(route())[1].metadata.name)
})

test('a route leads nowhere if a rule that protects it cannot be applied', () => {
  const denied = route({ rules: { deny: ['192.0.2.0/24'] } })
  assert.equal(heldBack(denied, setting), 'its rule deny cannot be applied: Traefik can only allow networks')
  assert.deepEqual(namesOf(denied)[0], 'Service quayside-routes-here/route-idle')
  const late = route({ rules: { readTimeoutMs: 60_000 } })
  assert.equal(heldBack(late, setting), undefined)
  assert.match(String(namesOf(late)[0]), /^Service quayside-e1/)
})

test('objects come before those that refer to them', () => {
  const ruled = route({ rules: { basicAuth: [{ login: 'a', hash: '$apr1$x$y' }], idleTimeoutMs: 1000 } })
  const kinds = objectsOf(ruled, route({ host: 'a.example.org', service: 'other' })).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['Secret', 'Middleware', 'ServersTransport', 'Service', 'Service', 'Ingress', 'Ingress'])
})
