import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Route, TlsMaterial } from '@quayside/contract/routes.ts'
import { secureClient } from '../../../test/support/https.ts'
import { issued } from '../../../test/support/issued.ts'
import { until } from '../../../test/support/until.ts'
import { application, ask } from '../own/testing.ts'
import type { TlsSource } from '../tls-source.ts'
import { tlsFindings } from './pod-tls.ts'
import { startedPodCluster } from './testing.ts'

const { signal } = new AbortController()
const host = 'own.lab.test'

/** Certificates in memory. A test changes the material together with its mark. */
function source(): TlsSource & { mine: TlsMaterial; marked: string; away: boolean; sealed: boolean } {
  const own = {
    mine: { certificates: [{ host, chain: issued.cert + issued.intermediate, key: issued.key }], challenges: [] },
    marked: 'first',
    away: false,
    sealed: false,
    mark: async () => {
      if (own.away) throw new Error('the database is away')
      return own.marked
    },
    material: async () => own.mine,
    kept: async () => (own.sealed ? undefined : own.mine.certificates),
    states: async () => new Map([[host, { state: 'READY', message: null } as const]]),
  }
  return own
}

async function open(t: { after(work: () => Promise<void>): void }) {
  const cluster = await startedPodCluster(2)
  t.after(() => cluster.close())
  const { server, endpoint } = await application((_, response) => response.end('ok'))
  t.after(async () => void server.close().closeAllConnections())
  const certificates = source()
  const router = cluster.router(certificates)
  const route: Route = {
    host,
    service: 'shop',
    name: 'shop',
    endpoints: [endpoint],
    tls: { from: 'platform', redirects: true },
  }
  await router.replaceAll([route], signal)
  return { cluster, certificates, router, route }
}

async function statusAt(port: number): Promise<number> {
  const client = secureClient({ port, root: issued.root })
  try {
    return (await client.ask(host)).status
  } finally {
    client.close()
  }
}

test('all routers in pods get the certificates, and redirect to HTTPS', async (t) => {
  const { cluster, router } = await open(t)
  for (const { port, tlsPort } of cluster.pods) {
    assert.equal(await statusAt(tlsPort), 200)
    assert.equal((await ask(port, host)).status, 308)
  }
  assert.deepEqual(await router.certificates(), [
    { service: 'shop', host, certificate: { state: 'READY', message: null } },
  ])
})

test('a host whose certificate something in front has is ready, and is not redirected', async (t) => {
  const { cluster, router, route } = await open(t)
  const other: Route = { ...route, host: 'front.lab.test', tls: { from: 'controller', redirects: true } }
  await router.replaceAll([route, other], signal)
  const [, found] = await router.certificates()
  assert.deepEqual(found, { service: 'shop', host: other.host, certificate: { state: 'READY', message: null } })
  assert.equal((await ask(cluster.pods[0]?.port ?? 0, other.host)).status, 200)
})

test('the Secrets of the cluster have no private key', async (t) => {
  const { cluster } = await open(t)
  for (const name of ['router-table', 'router-key']) {
    assert.doesNotMatch(JSON.stringify(cluster.object('Secret', name)), /PRIVATE/)
  }
})

test('a router that starts has its certificates before it gets requests', async (t) => {
  const { cluster, certificates, router, route } = await open(t)
  certificates.away = true
  const fresh = await cluster.addPod()
  // Routers that get requests have the table already.
  await router.replaceAll([route], signal).catch(() => {})
  assert.equal(await cluster.isReady(fresh), false)
  certificates.away = false
  await router.replaceAll([route], signal)
  assert.equal(await cluster.isReady(fresh), true)
  assert.equal(await statusAt(fresh.tlsPort), 200)
})

test('a challenge is answered by every router, and is gone with the next certificates', async (t) => {
  const { cluster, certificates, router, route } = await open(t)
  const path = '/.well-known/acme-challenge/abc'
  const answers = async () =>
    Promise.all(
      cluster.pods.map(async ({ port }) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
        return answer.text()
      }),
    )
  const challenge = { kind: 'http-01', host: '127.0.0.1', token: 'abc', answer: 'abc.thumb' } as const
  certificates.mine = { ...certificates.mine, challenges: [challenge] }
  certificates.marked = 'second'
  await router.replaceAll([route], signal)
  assert.deepEqual(await answers(), ['abc.thumb', 'abc.thumb'])
  certificates.mine = { ...certificates.mine, challenges: [] }
  certificates.marked = 'third'
  await router.replaceAll([route], signal)
  for (const body of await answers()) assert.doesNotMatch(body, /thumb/)
})

test('a router whose program was replaced in place gets its certificates again', async (t) => {
  const { cluster, router, route } = await open(t)
  const [first] = cluster.pods
  await first?.kill()
  const again = await cluster.addPod()
  await router.replaceAll([route], signal)
  await until('it is ready', () => cluster.isReady(again))
  assert.equal(await statusAt(again.tlsPort), 200)
})

test('settings of a cluster for certificates that have no effect are named', () => {
  const tls = { domain: 'apps.test', secret: null, issuer: 'acme', byController: false }
  assert.match(tlsFindings(true, tls)[0]?.message ?? '', /have no effect/)
  assert.match(tlsFindings(false, tls)[0]?.message ?? '', /speaks HTTP/)
  assert.deepEqual(tlsFindings(true, { ...tls, issuer: null, byController: true }), [])
  assert.deepEqual(tlsFindings(true, undefined), [])
})

/** A cluster whose operator wants private keys to be kept in it, with two routers. */
async function openKeeping(t: { after(work: () => Promise<void>): void }) {
  const cluster = await startedPodCluster(1)
  t.after(() => cluster.close())
  const { server, endpoint } = await application((_, response) => response.end('ok'))
  t.after(async () => void server.close().closeAllConnections())
  const certificates = source()
  const tls = { from: 'platform', redirects: true } as const
  const route: Route = { host, service: 'shop', name: 'shop', endpoints: [endpoint], tls }
  const router = cluster.router(certificates, { keepsKeys: true })
  await router.replaceAll([route], signal)
  return { cluster, certificates, router, route }
}

const keysIn = (cluster: Awaited<ReturnType<typeof startedPodCluster>>) => {
  const data = Object(cluster.object('Secret', 'router-certificates')).data
  return data && gunzipSync(Buffer.from(data['whole.gz'], 'base64')).toString()
}

test('a router that starts while the platform is away speaks HTTPS if the cluster keeps the keys', {
  timeout: 60_000,
}, async (t) => {
  const { cluster, certificates, router, route } = await openKeeping(t)
  cluster.isAway = true
  const fresh = await cluster.addPod()
  await until('it gets requests', () => cluster.isReady(fresh), { limitMs: 40_000 })
  assert.equal(await statusAt(fresh.tlsPort), 200)
  assert.equal((await ask(fresh.port, host)).status, 308)
  // The platform returns, without a certificate.
  cluster.isAway = false
  certificates.mine = { certificates: [], challenges: [] }
  certificates.marked = 'second'
  await router.replaceAll([route], signal)
  await assert.rejects(statusAt(fresh.tlsPort))
  assert.equal(keysIn(cluster), '{"certificates":[]}')
})

test('kept certificates follow those of the platform, and challenges are not kept', async (t) => {
  const { cluster, certificates, router, route } = await openKeeping(t)
  const before = cluster.object('Secret', 'router-certificates')
  assert.match(keysIn(cluster) ?? '', /PRIVATE KEY/)
  const challenge = { kind: 'http-01', host, token: 'abc', answer: 'abc.thumb' } as const
  certificates.mine = { ...certificates.mine, challenges: [challenge] }
  certificates.marked = 'second'
  await router.replaceAll([route], signal)
  assert.equal(cluster.object('Secret', 'router-certificates'), before, 'nothing was written')
  certificates.mine = { certificates: [], challenges: [] }
  certificates.sealed = true
  certificates.marked = 'third'
  await router.replaceAll([route], signal)
  assert.equal(cluster.object('Secret', 'router-certificates'), before, 'sealed secrets remove nothing')
})

test('kept certificates are removed once the operator does not want them any more', async (t) => {
  const { cluster, certificates, route } = await openKeeping(t)
  assert.ok(cluster.object('Secret', 'router-certificates'))
  assert.match(JSON.stringify(cluster.object('Deployment', 'router')), /--stored-certificates=/)
  await cluster.router(certificates).replaceAll([route], signal)
  assert.equal(cluster.object('Secret', 'router-certificates'), undefined)
  assert.doesNotMatch(JSON.stringify(cluster.object('Deployment', 'router')), /certificates/)
})

test('a cluster that lost what it kept gets it again when its routers are renewed', async (t) => {
  const { cluster, router, route } = await openKeeping(t)
  const before = [cluster.object('Secret', 'router-table'), cluster.object('Secret', 'router-certificates')]
  await cluster.addPod()
  cluster.loseSecrets()
  await router.renew(signal)
  await router.replaceAll([route], signal)
  assert.deepEqual([cluster.object('Secret', 'router-table'), cluster.object('Secret', 'router-certificates')], before)
})

test('findings say that private keys are in the cluster', async (t) => {
  const { cluster, router } = await openKeeping(t)
  const messages = (await router.listFindings(signal)).map(({ message }) => message).join('\n')
  assert.match(messages, /Private keys of its certificates are in Secrets of the namespace quayside-router-test/)
  const usual = (await cluster.router(source()).listFindings(signal)).map(({ message }) => message).join('\n')
  assert.doesNotMatch(usual, /Private keys/)
})
