import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { issued } from '../../test/support/issued.ts'
import { testDatabase } from '../database/testing.ts'
import { createCustomDomains, createNameServers, replaceHosts } from '../domains/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { usualLimits } from '../limits/index.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createCertificates } from './certificates.ts'
import { createUploads } from './uploads.ts'

const host = 'own.lab.test'
const upload = { chain: issued.cert + issued.intermediate, private_key: issued.key }

/** An organization with a service that has a custom domain, which needs no proof. */
async function openBench(t: TestContext, { generate = false } = {}) {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId, organizationId } = place.service
  const vault = await testVault(t, sql)
  let served = 0
  let offset = 0
  const clock = { ...systemClock, now: () => new Date(Date.now() + offset) }
  const options = { database: sql, vault, clock, log }
  const uploads = createUploads({ ...options, serve: async () => void served++ })
  const domains = createCustomDomains({
    database: sql,
    clock,
    domain: 'apps.lab.test',
    ownHosts: [],
    nameServers: createNameServers(['127.0.0.1:1']),
    mode: 'required',
    speaksTls: true,
  })
  const settings = { directory: 'https://localhost:1/directory' }
  const { source } = createCertificates({ ...options, settings, hosts: [], publishRoot: async () => {} })
  assert.ok(source)
  await replaceHosts(
    sql,
    serviceId,
    [{ host: 'app.apps.lab.test', port_name: 'web', internal_port: 80, is_default: true }],
    clock.now(),
  )
  const owner = { id: serviceId, name: 'shop', organization_id: organizationId }
  const { id } = await domains.create(owner, { domain: host, generate_certificate: generate })
  return {
    ...{ sql, vault, uploads, domains, owner, source, id, serviceId, organizationId },
    served: () => served,
    move: (ms: number) => {
      offset += ms
    },
    state: async () => (await source.states()).get(host),
    certificate: async () => (await source.material()).certificates.find((one) => one.host === host),
  }
}

test('an uploaded certificate is served, sealed, and sent to the router at once', async (t) => {
  const { uploads, serviceId, id, sql, source, served, state, certificate } = await openBench(t)
  const before = await source.mark()
  assert.equal(await certificate(), undefined)
  await uploads.upload(serviceId, id, upload)
  assert.equal(served(), 1)
  assert.notEqual(await source.mark(), before)
  assert.deepEqual(await state(), { state: 'READY', message: null })
  const found = await certificate()
  assert.equal(found?.chain, upload.chain)
  assert.match(found?.key ?? '', /BEGIN PRIVATE KEY/)
  const [row] = await sql`select * from uploaded_certificate`
  assert.doesNotMatch(JSON.stringify(row), /PRIVATE/)
})

test('an uploaded certificate takes the place of an ordered one until it is deleted', async (t) => {
  const { uploads, serviceId, id, state } = await openBench(t, { generate: true })
  assert.equal((await state())?.state, 'PENDING')
  await uploads.upload(serviceId, id, upload)
  assert.equal((await state())?.state, 'READY')
  await uploads.remove(serviceId, id)
  assert.equal((await state())?.state, 'PENDING')
  await assert.rejects(uploads.remove(serviceId, id), { code: 'notFound' })
})

test('an uploaded certificate warns three weeks before its end, and says when it has expired', async (t) => {
  const { uploads, serviceId, id, sql, state, move } = await openBench(t)
  await uploads.upload(serviceId, id, upload)
  await sql`update uploaded_certificate set not_after = now() + interval '22 days'`
  assert.equal((await state())?.message, null)
  move(2 * 86_400_000)
  assert.match((await state())?.message ?? '', /^it expires at 20.*Z: upload the next one$/)
  assert.equal((await state())?.state, 'READY')
  move(21 * 86_400_000)
  assert.equal((await state())?.state, 'EXPIRED')
})

test('another name of the domain, and its end, delete the certificate', async (t) => {
  const { uploads, serviceId, id, sql, domains, owner } = await openBench(t)
  const count = async () => (await sql`select from uploaded_certificate`).length
  await uploads.upload(serviceId, id, upload)
  await domains.edit(owner, id, { domain: host, generate_certificate: true })
  assert.equal(await count(), 1)
  const renamed = await domains.edit(owner, id, { domain: 'other.lab.test', generate_certificate: true })
  assert.equal(renamed.uploaded_certificate, null)
  assert.equal(await count(), 0)
  await domains.edit(owner, id, { domain: host, generate_certificate: true })
  await uploads.upload(serviceId, id, upload)
  await domains.remove(owner, id)
  assert.equal(await count(), 0)
})

test('a domain without a proof is not served with its uploaded certificate', async (t) => {
  const { uploads, serviceId, id, sql, domains, owner, certificate, state } = await openBench(t)
  await sql`update custom_domain set proof = null, proven_at = null`
  await domains.edit(owner, id, { domain: host, generate_certificate: false })
  await uploads.upload(serviceId, id, upload)
  assert.deepEqual([await certificate(), await state()], [undefined, undefined])
  const { certificate: found } = await domains.get(owner, id)
  assert.deepEqual(found, { state: 'PENDING', message: 'The certificate is served once the domain is proven.' })
})

test('the domain of another service is unknown, and a refused upload changes nothing', async (t) => {
  const { uploads, serviceId, id, sql, served } = await openBench(t)
  const other = (await addPlace(sql)).service.serviceId
  await assert.rejects(uploads.upload(other, id, upload), { code: 'notFound' })
  await assert.rejects(uploads.remove(other, id), { code: 'notFound' })
  await assert.rejects(uploads.upload(serviceId, id, { ...upload, chain: issued.root }), { code: 'invalid' })
  assert.equal((await sql`select from uploaded_certificate`).length, 0)
  assert.equal(served(), 0)
})

test('an organization has a bounded number of uploaded certificates, and may replace each', async (t) => {
  const { uploads, serviceId, id, organizationId, sql } = await openBench(t)
  const other = (await addPlace(sql)).service.serviceId
  await sql`
    insert into custom_domain (id, service_id, created_at, updated_at, domain, generate_certificate, use_cdn,
      organization_id, pending_since)
    select gen_random_uuid(), ${other}, now(), now(), 'n' || n || '.lab.test', false, false, ${organizationId}, now()
    from generate_series(1, ${usualLimits.certificates}) n`
  await sql`
    insert into uploaded_certificate
    select id, '', '', '', '', now(), now(), now() from custom_domain where service_id = ${other}`
  await assert.rejects(uploads.upload(serviceId, id, upload), { code: 'conflict', message: /at most 200 uploaded/ })
  await sql`delete from uploaded_certificate where custom_domain_id = (select min(id::text)::uuid from custom_domain
    where service_id = ${other})`
  await uploads.upload(serviceId, id, upload)
  await uploads.upload(serviceId, id, upload)
})
