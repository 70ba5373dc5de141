import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type Database, inTransaction } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { createServeHost, replaceHosts } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger as log } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { RefusedError } from './authority.ts'
import { type CertificatesOptions, createCertificates } from './certificates.ts'
import { serveProof } from './serve-in-time.ts'

const { signal } = new AbortController()
/** The DNS of an operator that nobody asks here. */
const updates = { program: 'nsupdate', keyFile: '/nowhere', server: '127.0.0.1:1' }
const door = { service: 'platform', secret: 'the secret of the platform' }

/** A service on a cluster with a domain and routers of the platform. */
async function addCluster(sql: Database, domain: string, host: string): Promise<string> {
  const { service } = await addPlace(sql)
  const [row] = await sql<{ id: string }[]>`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l', has_own_tls = true,
      dns_provider = ${sql.json({ provider: 'QOVERY', domain })}, engine = organization_id::text
    where organization_id = ${service.organizationId} returning id`
  await lead(sql, service.serviceId, host)
  return row?.id ?? assert.fail()
}

const lead = (sql: Database, serviceId: string, host: string) =>
  replaceHosts(sql, serviceId, [{ host, port_name: 'web', internal_port: 80, is_default: true }], clock.now())

async function openBench(t: TestContext, more: Partial<CertificatesOptions> = {}) {
  const { sql } = await testDatabase(t)
  const served: string[] = []
  const certificates = createCertificates({
    database: sql,
    vault: await testVault(t, sql),
    ...{ clock, log, door, hosts: ['quayside.lab.test'], publishRoot: async () => {} },
    settings: { directory: 'local' },
    speaking: { machine: true, clusters: true },
    ...more,
  })
  const reconcilers = certificates.reconcilers(async ({ host }) => void served.push(host))
  const run = async () => {
    for (const { reconcile } of reconcilers) await reconcile(signal)
  }
  const hostsOf = async (cluster: string) =>
    (await certificates.sourceOf(cluster)?.material())?.certificates.map(({ host }) => host)
  return { sql, run, served, hostsOf, certificates, reconcilers }
}

test('routers of a cluster get the certificates of its hosts alone, and no secret of the platform', async (t) => {
  const { sql, run, hostsOf, certificates } = await openBench(t)
  await lead(sql, (await addPlace(sql)).service.serviceId, 'here.lab.test')
  const one = await addCluster(sql, 'one.test', 'web.one.test')
  const two = await addCluster(sql, 'two.test', 'web.two.test')
  await run()
  assert.deepEqual(await hostsOf(one), ['web.one.test'])
  assert.deepEqual(await hostsOf(two), ['web.two.test'])
  const here = await certificates.source?.material()
  assert.deepEqual(here?.certificates.map(({ host }) => host).sort(), ['here.lab.test', 'quayside.lab.test'])
  const [first, second] = await Promise.all([one, two].map((id) => certificates.sourceOf(id)?.material()))
  assert.equal(first?.door, undefined)
  assert.equal(new Set([first, second, here].map((material) => material?.ticketKey)).size, 3)
})

test('a cluster that takes the domain of the platform or of another cluster gets no shared certificate', async (t) => {
  const { sql, certificates } = await openBench(t, {
    settings: { directory: 'https://localhost:1/dir', dns: { domain: 'lab.test', nameServers: [], by: { updates } } },
  })
  const owner = await addCluster(sql, 'lab.test', 'web.lab.test')
  await sql`
    insert into host_certificate (host, chain, sealed_key, not_before, not_after, due_at, updated_at)
    values ('*.lab.test', 'chain', 'v1.b25l', now(), now() + interval '1 day', now() + interval '1 day', now())`
  const marks = await certificates.sourceOf(owner)?.states()
  assert.equal(marks?.get('web.lab.test')?.state, 'PENDING')
  assert.deepEqual((await certificates.sourceOf(owner)?.material())?.certificates, [])
})

test('a cluster that no longer has routers of the platform has no certificates', async (t) => {
  const { sql, run, hostsOf } = await openBench(t)
  const cluster = await addCluster(sql, 'one.test', 'web.one.test')
  await run()
  await sql`update cluster set has_own_tls = false`
  assert.deepEqual(await hostsOf(cluster), [])
})

test('names of the domain have no certificate if the cluster says that something in front has them', async (t) => {
  const { sql, run, hostsOf } = await openBench(t)
  const cluster = await addCluster(sql, 'one.test', 'web.one.test')
  await sql`update cluster set advanced_settings = ${sql.json({ 'tls.controller_certificate': true })}`
  await run()
  assert.deepEqual(await hostsOf(cluster), [])
})

test('the mark of a cluster changes with its own certificates only', async (t) => {
  const { sql, run, certificates } = await openBench(t)
  const one = await addCluster(sql, 'one.test', 'web.one.test')
  await run()
  const source = certificates.sourceOf(one)
  const before = await source?.mark()
  await addCluster(sql, 'two.test', 'web.two.test')
  await run()
  assert.equal(await source?.mark(), before)
})

test('a challenge is sent to the routers of its host', async (t) => {
  const { sql } = await openBench(t)
  await addCluster(sql, 'one.test', 'web.one.test')
  const asked: (string | null)[] = []
  const publisherOf = ({ engine }: { readonly engine: string | null }) => {
    asked.push(engine)
    return { apply: async () => [] }
  }
  const serve = createServeHost({ database: sql, routes: { publisherOf } as never })
  await serve({ host: 'web.one.test', cluster: undefined }, signal)
  await serve({ host: 'quayside.lab.test', cluster: undefined }, signal)
  const [row] = await sql<{ engine: string }[]>`select engine from cluster`
  assert.deepEqual(asked, [row?.engine, null])
})

test('an upload is served where the service of its domain is', async (t) => {
  const { sql, certificates } = await openBench(t)
  const cluster = await addCluster(sql, 'one.test', 'web.one.test')
  await lead(sql, (await addPlace(sql)).service.serviceId, 'here.lab.test')
  const id = newId()
  await sql`
    insert into custom_domain (id, service_id, organization_id, domain, proof, created_at, updated_at, pending_since,
      proven_at, generate_certificate, use_cdn)
    select ${id}, s.id, p.organization_id, 'own.shop.test', 'CNAME', now(), now(), now(), now(), false, false
    from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    where e.cluster_id = ${cluster}`
  await inTransaction(sql, async (one) => {
    await one`insert into route (host, path, service_id, port_name, internal_port, is_default, endpoints, updated_at,
        custom_domain_id)
      select 'own.shop.test', '/', service_id, 'web', 80, true, '[]', now(), id from custom_domain`
    await one`insert into uploaded_certificate (custom_domain_id, chain, sealed_key, issuer, fingerprint, not_before,
        not_after, uploaded_at)
      values (${id}, 'chain', 'v1.b25l', 'x', 'x', now(), now() + interval '1 day', now())`
  })
  assert.equal((await certificates.sourceOf(cluster)?.states())?.get('own.shop.test')?.state, 'READY')
  assert.equal((await certificates.source?.states())?.has('own.shop.test'), false)
})

test('a cluster that does not take a certificate delays no other cluster', async (t) => {
  const stuck = 'web.stuck.test'
  const { sql, certificates } = await openBench(t)
  await addCluster(sql, 'stuck.test', stuck)
  const free = await addCluster(sql, 'free.test', 'web.free.test')
  const serve = ({ host }: { readonly host: string }) =>
    host === stuck ? Promise.reject(new Error('the API server is away')) : Promise.resolve()
  for (const { reconcile } of certificates.reconcilers(serve)) await reconcile(signal)
  const { certificates: found = [] } = (await certificates.sourceOf(free)?.material()) ?? {}
  assert.deepEqual(
    found.map(({ host }) => host),
    ['web.free.test'],
  )
})

test('orders of clusters keep what is known of a name of the platform', async (t) => {
  const { sql, certificates } = await openBench(t, { settings: { directory: 'https://localhost:1/dir' } })
  await addCluster(sql, 'one.test', 'web.one.test')
  const [machine, clusters] = certificates.reconcilers(async () => {})
  for (const failures of [1, 2]) {
    await sql`update host_certificate set due_at = 'epoch'`
    await clusters?.reconcile(signal)
    await machine?.reconcile(signal)
    const [row] = await sql`select failures from host_certificate where host = 'quayside.lab.test'`
    assert.equal(row?.['failures'], failures)
  }
})

test('a challenge that a cluster does not take in time is a failure of its host alone', async () => {
  const away = { at: 'clusters', serve: () => Promise.reject(new Error('no route to it')) } as const
  await assert.rejects(serveProof(away, 'web.test', signal), (error: Error) => {
    return error instanceof RefusedError && /no route to it/.test(error.message)
  })
  const ended = new AbortController()
  const hanging = { at: 'clusters', serve: () => new Promise(() => {}) } as const
  const waiting = serveProof(hanging, 'web.test', ended.signal)
  ended.abort(new Error('the server ends'))
  await assert.rejects(waiting, /the server ends/)
})

test('names of a domain that does not lead to its cluster are ordered three times an hour', async (t) => {
  const { sql, run, hostsOf, certificates } = await openBench(t)
  const cluster = await addCluster(sql, 'one.test', 'a.one.test')
  const { serviceId } = (await sql<{ serviceId: string }[]>`select service_id as "serviceId" from route`)[0] ?? {}
  const port = { port_name: 'web', internal_port: 80, is_default: false }
  const hosts = ['a', 'b', 'c', 'd'].map((label) => ({ ...port, host: `${label}.one.test` }))
  await replaceHosts(sql, serviceId ?? '', hosts, clock.now())
  for (const { host } of hosts.slice(0, 3)) {
    await sql`
      insert into host_certificate (host, failures, finding, tried_at, due_at, updated_at)
      values (${host}, 1, 'it leads elsewhere.', now(), now() - interval '1 minute', now())`
  }
  await run()
  assert.deepEqual(await hostsOf(cluster), [])
  const states = await certificates.sourceOf(cluster)?.states()
  assert.match(states?.get('d.one.test')?.message ?? '', /must lead to the routers/)
  await sql`update host_certificate set tried_at = now() - interval '2 hours'`
  await run()
  assert.deepEqual(
    await hostsOf(cluster),
    hosts.map(({ host }) => host),
  )
})
