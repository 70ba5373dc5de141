import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { startBind, whyNoBind } from '../../test/support/bind.ts'
import { providePebble } from '../../test/support/pebble/build.ts'
import { startPebble } from '../../test/support/pebble/pebble.ts'
import type { Database } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { hostIn } from './certificate-name.ts'
import { createCertificates } from './certificates.ts'

// Wildcards of domains of clusters, which prove themselves in a real BIND to Let's Encrypt's test
// server.

const { signal } = new AbortController()
const files = await providePebble()
const skip = files ? await whyNoBind() : 'this machine has no Go'
if (files) setDefaultCACertificates([...getCACertificates('default'), await readFile(files.serverRoot, 'utf8')])

const platformDomain = 'apps.lab.test'
const domain = 'far.lab.test'

/** A cluster with this domain, in an organization of its own. */
async function addCluster(sql: Database) {
  const { service } = await addPlace(sql)
  const [row] = await sql<{ id: string }[]>`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l', has_own_tls = true,
      dns_provider = ${sql.json({ provider: 'QOVERY', domain })}, engine = organization_id::text
    where organization_id = ${service.organizationId} returning id`
  const lead = (...hosts: readonly string[]) =>
    replaceHosts(
      sql,
      service.serviceId,
      hosts.map((host) => ({ host, port_name: 'web', internal_port: 80, is_default: true })),
      new Date(),
    )
  return { id: row?.id ?? assert.fail(), lead }
}

/** A clock that does not wait, and that tests move. */
function fastClock(): Clock & { move(ms: number): void } {
  let offset = 0
  const move = (ms: number): void => {
    offset += ms
  }
  return { ...systemClock, now: () => new Date(Date.now() + offset), sleep: async (ms) => move(ms), move }
}

async function openBench(t: TestContext, records: (cluster: string) => readonly string[]) {
  const { sql } = await testDatabase(t)
  const [cluster, other] = [await addCluster(sql), await addCluster(sql)]
  const bind = await startBind(t, 'lab.test', ['*.far IN A 127.0.0.1', ...records(cluster.id)])
  const routers = createServer(async ({ headers, url = '' }, response) => {
    const all = await Promise.all([cluster, other].map(({ id }) => certificates.sourceOf(id)?.material()))
    const found = all.flatMap((one) => one?.challenges ?? [])
    const token = url.split('/').at(-1)
    const challenge = found.find((one) => one.token === token && headers.host?.startsWith(one.host))
    response.statusCode = challenge ? 200 : 404
    response.end(challenge?.answer)
  })
  await new Promise<void>((resolve) => routers.listen(0, '127.0.0.1', resolve))
  t.after(() => routers.close().closeAllConnections())
  const bound = routers.address()
  const httpPort = typeof bound === 'object' && bound ? bound.port : assert.fail()
  const { directory } = (await startPebble(t, { nameServer: bind.address, httpPort })) ?? assert.fail()
  const clock = fastClock()
  const vault = await testVault(t, sql)
  const served: unknown[] = []
  const updates = { program: bind.nsupdate, keyFile: bind.keyFile, server: bind.address }
  const open = (hasDns: boolean) =>
    createCertificates({
      ...{ database: sql, vault, clock, log, hosts: [], publishRoot: async () => {} },
      settings: {
        directory,
        ...(hasDns && { dns: { domain: platformDomain, nameServers: [bind.address], by: { updates } } }),
      },
      speaking: { machine: false, clusters: true },
    })
  const certificates = open(true)
  const runWith = async (which: typeof certificates) => {
    const reconcilers = which.reconcilers(async (host) => void served.push(host))
    for (const { reconcile } of reconcilers.toReversed()) await reconcile(signal)
  }
  const sourceOf = (id: string) => certificates.sourceOf(id) ?? assert.fail()
  return {
    ...{ sql, bind, clock, cluster, other, served, sourceOf },
    run: () => runWith(certificates),
    runWithoutDns: () => runWith(open(false)),
    hostsOf: async (id: string) => (await sourceOf(id).material()).certificates.map(({ host }) => host).sort(),
    statesOf: async (id: string) =>
      Object.fromEntries([...(await sourceOf(id).states())].map(([host, { state }]) => [host, state])),
  }
}

/** The record by which the owner of the domain allows a cluster to have its wildcard. */
const leading = (cluster: string): string =>
  `_acme-challenge.far IN CNAME _acme-challenge.${domain}.${cluster}.${platformDomain}.`

test('names of the domain of a cluster share one wildcard if its DNS leads the proof to the platform', {
  skip,
}, async (t) => {
  const { run, cluster, hostsOf, statesOf, sourceOf, served, sql, bind } = await openBench(t, (id) => [leading(id)])
  await cluster.lead(`a.${domain}`, `b.${domain}`, `c.d.${domain}`)
  assert.equal((await sourceOf(cluster.id).sharing?.())?.isShared, false)
  await run()
  const ready = { [`a.${domain}`]: 'READY', [`b.${domain}`]: 'READY', [`c.d.${domain}`]: 'READY' }
  assert.deepEqual(await statesOf(cluster.id), ready)
  assert.deepEqual(await hostsOf(cluster.id), [`*.${domain}`, `c.d.${domain}`])
  const { certificates } = await sourceOf(cluster.id).material()
  const wildcard = certificates.find(({ host }) => host === `*.${domain}`)
  assert.ok(new X509Certificate(wildcard?.chain ?? '').checkHost(`b.${domain}`))
  assert.ok(served.some((host) => Object(host).cluster === cluster.id && Object(host).host === `*.${domain}`))
  assert.deepEqual(await bind.texts(`_acme-challenge.${domain}.${cluster.id}.${platformDomain}`), [])
  const { record, isShared } = (await sourceOf(cluster.id).sharing?.()) ?? assert.fail()
  assert.ok(isShared)
  assert.equal(record, leading(cluster.id).replace('.far IN', `.${domain}`).replace(/\.$/, ''))
  // A name that comes later has its certificate at once.
  await cluster.lead(`a.${domain}`, `new.${domain}`)
  assert.equal((await statesOf(cluster.id))[`new.${domain}`], 'READY')
  await run()
  assert.equal((await sql`select from host_certificate where host not like 'c.d.%'`).length, 1)
})

test('a cluster that names the domain of another one gets no wildcard of it', { skip }, async (t) => {
  const { run, cluster, other, hostsOf, statesOf, sql } = await openBench(t, (id) => [leading(id)])
  await cluster.lead(`a.${domain}`)
  await other.lead(`x.${domain}`)
  await run()
  assert.deepEqual(await hostsOf(cluster.id), [`*.${domain}`])
  // The name servers and routers of this test are those of both clusters.
  assert.deepEqual(await hostsOf(other.id), [`x.${domain}`])
  assert.deepEqual(await statesOf(other.id), { [`x.${domain}`]: 'READY' })
  // Also if the record was seen for it once, the order looks again.
  await sql`
    update cluster set wildcard_domain = ${domain}, wildcard_asked_at = now() + interval '30 minutes'
    where id = ${other.id}`
  await run()
  const [row] = await sql<{ finding: string }[]>`
    select finding from host_certificate where host = ${`*.${domain}/${other.id}`}`
  assert.match(row?.finding ?? '', /is needed, and it leads to/)
  assert.deepEqual(await hostsOf(other.id), [`x.${domain}`])
})

test('a cluster with a domain below the one of the platform needs the record too', { skip }, async (t) => {
  const { run, cluster, sql, hostsOf } = await openBench(t, () => [])
  const below = `far.${platformDomain}`
  await sql`
    update cluster set dns_provider = ${sql.json({ provider: 'QOVERY', domain: below })} where id = ${cluster.id}`
  await cluster.lead(`a.${below}`)
  await run()
  assert.deepEqual(await hostsOf(cluster.id), [`a.${below}`])
})

test('certificates of single names serve until the wildcard is there, and it serves after the record is gone', {
  skip,
}, async (t) => {
  const { run, runWithoutDns, cluster, hostsOf, statesOf, sql, clock } = await openBench(t, (id) => [leading(id)])
  await cluster.lead(`a.${domain}`)
  await runWithoutDns()
  assert.deepEqual(await hostsOf(cluster.id), [`a.${domain}`])
  await run()
  assert.deepEqual(await hostsOf(cluster.id), [`*.${domain}`, `a.${domain}`])
  await sql`delete from host_certificate where host = ${`a.${domain}`}`
  // Another domain has no wildcard, whatever DNS said about the first one.
  await sql`update cluster set wildcard_domain = null, wildcard_asked_at = ${clock.now()}`
  assert.deepEqual(await hostsOf(cluster.id), [`*.${domain}`])
  assert.deepEqual(await statesOf(cluster.id), { [`a.${domain}`]: 'READY' })
  await run()
  assert.deepEqual(await hostsOf(cluster.id), [`*.${domain}`, `a.${domain}`])
})

test('a name server that does not answer changes nothing that is known', { skip }, async (t) => {
  const { cluster, run, sourceOf, clock, sql } = await openBench(t, (id) => [leading(id)])
  await run()
  assert.ok((await sourceOf(cluster.id).sharing?.())?.isShared)
  const away = createCertificates({
    ...{ database: sql, vault: await testVault(t, sql), clock, log, hosts: [], publishRoot: async () => {} },
    settings: {
      directory: 'https://localhost:1/dir',
      dns: {
        ...{ domain: platformDomain, nameServers: ['127.0.0.1:1'] },
        by: { updates: { program: 'nsupdate', keyFile: '/nowhere' } },
      },
    },
    speaking: { machine: false, clusters: true },
  })
  clock.move(3600_000)
  for (const { name, reconcile } of away.reconcilers(async () => {})) {
    if (name === 'wildcards-of-clusters') await reconcile(signal)
  }
  const [row] = await sql<{ asked: Date }[]>`select wildcard_asked_at as asked from cluster where id = ${cluster.id}`
  assert.ok(Number(row?.asked) > Date.now() + 3_000_000)
  assert.ok((await sourceOf(cluster.id).sharing?.())?.isShared)
})

test('the name of a certificate has its host, and its cluster if it is the wildcard of one', () => {
  assert.deepEqual(hostIn('shop.test'), { host: 'shop.test', cluster: undefined })
  assert.deepEqual(hostIn('*.shop.test/id'), { host: '*.shop.test', cluster: 'id' })
})
