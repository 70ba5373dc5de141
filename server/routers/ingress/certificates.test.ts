import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import { expired, selfSigned, wildcard } from '../../../test/support/self-signed.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { issuedSecretName } from './certificate-objects.ts'
import { createIngressRouter } from './ingress-router.ts'
import type { KubeObject } from './kube-objects.ts'
import { createMemoryCluster } from './testing.ts'

const { signal } = new AbortController()
const issuedLabels = { 'quayside.io/instance': 'here', 'quayside.io/route': 'certificate' }
const labels = { 'quayside.io/instance': 'here', 'quayside.io/route': 'true' }
const [idleNamespace, givenNamespace] = ['quayside-routes-here', 'quayside-certificates-here']
const setting = {
  labels,
  issuedLabels,
  idleNamespace,
  givenNamespace,
  usual: {},
  podsOf: ({ environment }: { readonly environment: string }) => ({ namespace: environment, labels: {} }),
} as const

function open() {
  const cluster = createMemoryCluster()
  let nowMs = systemClock.now().getTime()
  const sleep = async (ms: number): Promise<void> => {
    nowMs += ms
  }
  const clock: Clock = { now: () => new Date(nowMs), monotonic: () => nowMs, sleep }
  const router = createIngressRouter({ kube: cluster.kube, setting, clock, className: undefined })
  const apply = async (...routes: readonly Route[]) => {
    await router.replaceAll(routes, signal)
    return (await router.certificates()).map(({ host, certificate }) => [host, certificate.state, certificate.message])
  }
  return { cluster, router, apply, sleep }
}

const route = (host: string, from: NonNullable<Route['tls']>['from'], more: Partial<Route> = {}): Route => ({
  host,
  service: `service of ${host}`,
  name: 'shop',
  endpoints: [{ address: '10.0.0.1', port: 8080 }],
  replicas: { environment: 'e1', release: 'r1' },
  tls: { from, redirects: true },
  ...more,
})
const base64 = (text: string): string => Buffer.from(text).toString('base64')

function secretOf(name: string, { cert, key }: { readonly cert: string; readonly key: string }, more: object = {}) {
  const metadata = { name, namespace: givenNamespace }
  const data = { 'tls.crt': base64(cert), 'tls.key': base64(key) }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/tls', data, ...more }
}
const issuer = (ready: boolean): KubeObject => {
  const status = { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', message: 'No account yet.' }] }
  return Object.assign(
    { apiVersion: 'cert-manager.io/v1', kind: 'ClusterIssuer', metadata: { name: 'ca' } },
    { status },
  )
}
const ingressOf = (objects: readonly KubeObject[]) => Object(objects[0])
const named = (objects: readonly KubeObject[], namespace: string) =>
  objects.map(Object).filter(({ metadata }) => metadata.namespace === namespace)

const a = 'a.apps.far.test'

test('a Secret of the cluster is copied beside the Ingress, renewed with it, and removed with it', async () => {
  const { cluster, apply, sleep } = open()
  const routes = [route(a, { secret: 'wild' })]
  assert.deepEqual(await apply(...routes), [
    [a, 'FAILED', 'the Secret wild in the namespace quayside-certificates-here does not exist'],
  ])
  assert.equal(ingressOf(cluster.of('Ingress')).spec.tls, undefined)
  assert.equal(cluster.of('Middleware').length, 0)

  cluster.put(secretOf('wild', wildcard))
  assert.deepEqual(await apply(...routes), [[a, 'READY', null]])
  const [copy] = named(cluster.of('Secret'), 'e1')
  assert.deepEqual(
    [copy.type, copy.data['tls.crt'], copy.metadata.labels],
    ['kubernetes.io/tls', base64(wildcard.cert), labels],
  )
  assert.deepEqual(ingressOf(cluster.of('Ingress')).spec.tls, [{ hosts: [a], secretName: copy.metadata.name }])
  assert.deepEqual(Object(cluster.of('Middleware')[0]).spec, { redirectScheme: { scheme: 'https', permanent: true } })

  const renewed = { ...wildcard, cert: `${wildcard.cert}\n` }
  cluster.put(secretOf('wild', renewed))
  await apply(...routes)
  assert.equal(named(cluster.of('Secret'), 'e1')[0].data['tls.crt'], base64(renewed.cert))

  await apply()
  await sleep(6_000)
  await apply()
  assert.deepEqual(named(cluster.of('Secret'), 'e1'), [])
  assert.equal(named(cluster.of('Secret'), givenNamespace).length, 1)
})

test('a Secret is used only if it is a certificate for the host, with its key', async () => {
  const cases = [
    [secretOf('wild', selfSigned), 'FAILED', /is not valid for a\.apps\.far\.test/],
    [secretOf('wild', { ...wildcard, key: selfSigned.key }), 'FAILED', /its key is not that of its certificate/],
    [secretOf('wild', { cert: 'no', key: 'certificate' }), 'FAILED', /cannot be read/],
    [secretOf('wild', wildcard, { type: 'Opaque' }), 'FAILED', /has the type Opaque and not kubernetes\.io\/tls/],
    [secretOf('wild', { ...wildcard, key: wildcard.key.padEnd(60_000) }), 'FAILED', /is longer than 65536 characters/],
    [secretOf('wild', wildcard, { data: {} }), 'FAILED', /has no tls\.crt/],
  ] as const
  for (const [secret, state, message] of cases) {
    const { cluster, apply } = open()
    cluster.put(secret)
    const [found] = await apply(route(a, { secret: 'wild' }))
    assert.equal(found?.[1], state)
    assert.match(String(found?.[2]), message)
    assert.equal(named(cluster.of('Secret'), 'e1').length, 0)
    assert.doesNotMatch(JSON.stringify(found), /PRIVATE|MIGH/)
  }
})

test('an expired certificate still serves its host, and says since when', async () => {
  const { cluster, apply } = open()
  cluster.put(secretOf('old', expired))
  const found = await apply(route('expired.example', { secret: 'old' }))
  assert.deepEqual(found, [['expired.example', 'EXPIRED', 'the certificate expired on 2020-01-01T00:00:00.000Z']])
  assert.ok(ingressOf(cluster.of('Ingress')).spec.tls)
})

test('a Secret of another namespace is not read, whatever its name', async () => {
  const { cluster, apply } = open()
  const elsewhere = secretOf('wild', wildcard)
  cluster.put({ ...elsewhere, metadata: { ...elsewhere.metadata, namespace: 'kube-system' } })
  for (const secret of ['wild', 'kube-system/wild']) {
    const [found] = await apply(route(a, { secret }))
    assert.match(String(found?.[2]), /in the namespace quayside-certificates-here does not exist/)
  }
})

test('the certificate of the controller needs no Secret', async () => {
  const { cluster, apply } = open()
  assert.deepEqual(await apply(route(a, 'controller')), [[a, 'READY', null]])
  assert.deepEqual(ingressOf(cluster.of('Ingress')).spec.tls, [{ hosts: [a] }])
  assert.equal(cluster.of('Secret').length, 0)
})

test('a route that leads nowhere keeps its certificate', async () => {
  const { cluster, apply } = open()
  cluster.put(secretOf('wild', wildcard))
  await apply(route(a, { secret: 'wild' }, { endpoints: [] }))
  const [ingress] = named(cluster.of('Ingress'), idleNamespace)
  const [copy] = named(cluster.of('Secret'), idleNamespace)
  assert.equal(ingress.spec.tls[0].secretName, copy.metadata.name)
})

test('an issuer makes a certificate, whose state is the one of cert-manager until it is there', async () => {
  const { cluster, apply, sleep } = open()
  const host = 'shop.apps.far.test'
  const routes = [route(host, { issuer: 'ca' })]
  assert.deepEqual(await apply(...routes), [
    [host, 'FAILED', 'the cluster has no ClusterIssuer ca; compare: kubectl get clusterissuers'],
  ])
  cluster.put(issuer(false))
  assert.deepEqual(await apply(...routes), [[host, 'FAILED', 'the ClusterIssuer ca is not ready: No account yet']])
  cluster.put(issuer(true))
  const [certificate] = cluster.of('Certificate').map(Object)
  assert.deepEqual(
    [certificate.metadata.namespace, certificate.spec.dnsNames, certificate.spec.issuerRef.name],
    [idleNamespace, [host], 'ca'],
  )
  const say = (condition: object) => cluster.put({ ...certificate, status: { conditions: [condition] } })
  say({ type: 'Issuing', status: 'True', reason: 'DoesNotExist', message: 'Secret does not exist.' })
  assert.deepEqual(await apply(...routes), [[host, 'PENDING', 'cert-manager is making it: Secret does not exist']])
  say({ type: 'Issuing', status: 'False', reason: 'Failed', message: 'The request\nhas failed.' })
  assert.deepEqual(await apply(...routes), [[host, 'FAILED', 'cert-manager could not make it: The request has failed']])
  assert.equal(ingressOf(cluster.of('Ingress')).spec.tls, undefined)

  const metadata = { name: issuedSecretName(host), namespace: idleNamespace, labels: issuedLabels }
  cluster.put({ ...secretOf('', wildcard), metadata })
  assert.deepEqual(await apply(...routes), [[host, 'READY', null]])
  assert.equal(named(cluster.of('Secret'), 'e1').length, 1)

  await apply()
  await sleep(6_000)
  await apply()
  assert.deepEqual([cluster.of('Certificate').length, cluster.of('Secret').length], [0, 0])
})

test('a Secret with the labels of an issued one elsewhere serves nobody', async () => {
  const { cluster, apply } = open()
  cluster.put(issuer(true))
  const host = 'shop.apps.far.test'
  const metadata = { name: issuedSecretName(host), namespace: 'quayside-other', labels: issuedLabels }
  cluster.put({ ...secretOf('', wildcard), metadata })
  const [found] = await apply(route(host, { issuer: 'ca' }))
  assert.equal(found?.[1], 'PENDING')
  assert.equal(named(cluster.of('Secret'), 'quayside-other').length, 1)
})

test('a certificate serves its host while cert-manager is removed or installed', async () => {
  const { cluster, apply } = open()
  const host = 'shop.apps.far.test'
  const routes = [route(host, { issuer: 'ca' })]
  cluster.put(issuer(true))
  await apply(...routes)
  const metadata = { name: issuedSecretName(host), namespace: idleNamespace, labels: issuedLabels }
  cluster.put({ ...secretOf('', wildcard), metadata })
  for (const certManager of [false, 'installed'] as const) {
    cluster.certManager = certManager
    assert.deepEqual(await apply(...routes), [[host, 'READY', null]])
    await apply(...routes)
    assert.equal(named(cluster.of('Secret'), idleNamespace).length, 1)
  }
  cluster.drop('Secret')
  assert.match(String((await apply(...routes))[0]?.[2]), /did not list its Certificates: it is being installed/)
})

test('without cert-manager, or while it refuses, other routes are applied', async () => {
  const { cluster, apply } = open()
  cluster.certManager = false
  const routes = [route('b.apps.far.test', { issuer: 'ca' }), route(a, 'controller')]
  assert.match(String((await apply(...routes))[0]?.[2]), /the cluster has no cert-manager; .*helm install cert-manager/)
  cluster.certManager = true
  cluster.refuse = ({ kind }) => kind === 'Certificate'
  cluster.put(issuer(true))
  assert.match(String((await apply(...routes))[0]?.[2]), /the cluster refuses its Certificate: refused by a test/)
  assert.equal(cluster.of('Ingress').length, 2)
})

test('the check of a cluster names what its certificates lack, and what mends it', async () => {
  const { cluster, router } = open()
  const tls = { domain: 'apps.far.test', secret: 'wild', issuer: 'ca', byController: false }
  const check = async () => (await router.listFindings(signal, tls)).map(({ message }) => message)
  cluster.certManager = false
  const [given, made] = await check()
  assert.match(String(given), /kubectl -n quayside-certificates-here create secret tls wild --cert=FILE --key=FILE/)
  assert.match(String(made), /helm install cert-manager/)
  cluster.certManager = true
  cluster.put(secretOf('wild', wildcard))
  const http01 = { ingress: { ingressClassName: 'traefik' } }
  cluster.put(Object.assign(issuer(true), { spec: { acme: { solvers: [{ dns01: {} }, { http01 }] } } }))
  const [priority, ...more] = await check()
  assert.match(String(priority), /kubectl patch clusterissuer ca .*"path":"\/spec\/acme\/solvers\/1\/http01\/ingress/)
  assert.deepEqual(more, [])
  cluster.put(issuer(true))
  assert.deepEqual(await check(), [])
  cluster.hasTraefikKinds = false
  assert.match(String((await check())[0]), /Plain HTTP is not redirected, because the cluster lacks/)
})
