import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type Bind, startBind, whyNoBind } from '../../test/support/bind.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { providePebble } from '../../test/support/pebble/build.ts'
import { startPebble } from '../../test/support/pebble/pebble.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { type CertificateSettings, createCertificates } from './certificates.ts'
import { createDnsProof, recordNames } from './dns-proof.ts'
import type { DnsRecord, DnsRecords } from './dns-records.ts'
import type { DnsSettings } from './dns-settings.ts'
import { createDynamicUpdates } from './nsupdate.ts'

// Wildcards that prove themselves by records in a real BIND, to Let's Encrypt's test server.

const { signal } = new AbortController()
const files = await providePebble()
const skip = files ? await whyNoBind() : 'this machine has no Go'
if (files) setDefaultCACertificates([...getCACertificates('default'), await readFile(files.serverRoot, 'utf8')])

const domain = 'apps.lab.test'

/** Records of users: one leads to its place, the other one to a name of somebody else. */
const delegations = [
  `_acme-challenge.led IN CNAME _acme-challenge.led.lab.test.${domain}.`,
  `_acme-challenge.sly IN CNAME victim.${domain}.`,
]

interface BenchOptions {
  readonly by?: (bind: Bind) => DnsSettings['by']
  readonly env?: Readonly<Record<string, string>>
}

const updatesOf = ({ nsupdate: program, keyFile, address: server }: Bind) => ({
  updates: { program, keyFile, server },
})

/** A clock that does not wait. */
function fastClock(): Clock {
  let offset = 0
  return {
    ...systemClock,
    now: () => new Date(Date.now() + offset),
    sleep: async (ms) => {
      offset += ms
    },
  }
}

async function openBench(t: TestContext, { by = updatesOf, env = {} }: BenchOptions = {}) {
  const { sql } = await testDatabase(t)
  const { serviceId } = (await addPlace(sql)).service
  const bind = await startBind(t, 'lab.test', delegations)
  const pebble = await startPebble(t, { nameServer: bind.address, httpPort: await findFreePort(), env })
  assert.ok(pebble)
  const vault = await testVault(t, sql)
  const lead = (...hosts: readonly string[]) =>
    replaceHosts(
      sql,
      serviceId,
      hosts.map((host) => ({ host, port_name: 'web', internal_port: 80, is_default: true })),
      new Date(),
    )
  const { directory } = pebble
  const open = (settings: CertificateSettings) =>
    createCertificates({
      database: sql,
      vault,
      clock: fastClock(),
      log,
      settings,
      hosts: [`quayside.${domain}`],
      publishRoot: async () => {},
    })
  const dns = { domain, nameServers: [bind.address], by: by(bind) }
  const { source, reconcilers, certifies } = open({ directory, dns })
  assert.ok(source)
  const [reconciler] = reconcilers(async () => {})
  return {
    /** Orders as an installation without DNS does. */
    runWithoutDns: () =>
      open({ directory })
        .reconcilers(async () => {})[0]
        ?.reconcile(signal),
    sql,
    bind,
    pebble,
    lead,
    certifies,
    source,
    run: () => reconciler?.reconcile(signal),
    states: async () => Object.fromEntries([...(await source.states())].map(([host, { state }]) => [host, state])),
    message: async (host: string) => (await source.states()).get(host)?.message ?? '',
    certificates: async () =>
      (await source.material()).certificates.map(({ host, chain }) => ({ host, x509: new X509Certificate(chain) })),
  }
}

const names = async (certificates: () => Promise<readonly { readonly host: string }[]>): Promise<readonly string[]> =>
  (await certificates()).map(({ host }) => host)

test('names with one label below the domain share one wildcard, which a record in DNS proves', { skip }, async (t) => {
  const { run, lead, states, certificates, bind, source, sql } = await openBench(t)
  await lead(`shop.${domain}`, `cart.${domain}`)
  await run()
  const ready = Object.fromEntries(['quayside', 'shop', 'cart'].map((name) => [`${name}.${domain}`, 'READY']))
  assert.deepEqual(await states(), ready)
  const [one, ...others] = await certificates()
  assert.deepEqual([one?.host, others.length], [`*.${domain}`, 0])
  assert.ok(one?.x509.checkHost(`shop.${domain}`))
  assert.deepEqual(await bind.texts(`_acme-challenge.${domain}`), [])
  assert.deepEqual((await source.material()).challenges, [])
  // A name that comes later has its certificate at once.
  await lead(`new.${domain}`)
  assert.equal((await states())[`new.${domain}`], 'READY')
  await run()
  assert.equal((await sql`select from host_certificate`).length, 1)
})

test('a certificate of a host serves until the wildcard of its domain is there', { skip }, async (t) => {
  const env = { PEBBLE_VA_ALWAYS_VALID: '1' }
  const { run, runWithoutDns, lead, states, certificates, bind } = await openBench(t, { env })
  const host = `shop.${domain}`
  await lead(host)
  await runWithoutDns()
  const own = [`quayside.${domain}`, host]
  assert.deepEqual(await names(certificates), own)
  assert.equal((await states())[host], 'READY')
  await run()
  assert.deepEqual(await names(certificates), [`*.${domain}`, ...own])
  assert.deepEqual(await bind.texts(`_acme-challenge.${domain}`), [])
})

test('a wildcard serves its names once their own certificates have expired', { skip }, async (t) => {
  const { run, runWithoutDns, lead, states, certificates, source, sql } = await openBench(t, {
    env: { PEBBLE_VA_ALWAYS_VALID: '1' },
  })
  await lead(`shop.${domain}`)
  await runWithoutDns()
  await run()
  const before = await source.mark()
  // Renewals failed until they expired, and the next attempt would have been hours away.
  await sql`
    update host_certificate set not_after = now() - interval '1 second', finding = 'no'
    where host <> ${`*.${domain}`}`
  assert.deepEqual(await names(certificates), [`*.${domain}`])
  assert.equal((await states())[`shop.${domain}`], 'READY')
  assert.notEqual(await source.mark(), before)
})

test('a wildcard that fails says so while certificates of its names serve', { skip }, async (t) => {
  const { run, runWithoutDns, lead, states, message, bind } = await openBench(t, {
    env: { PEBBLE_VA_ALWAYS_VALID: '1' },
  })
  const host = `shop.${domain}`
  await lead(host)
  await runWithoutDns()
  await writeFile(bind.keyFile, 'key "platform" { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };\n')
  await run()
  assert.equal((await states())[host], 'READY')
  assert.match(await message(host), /^its renewal failed: DNS did not accept the change/)
})

test("a user's wildcard is proven at the place to which its DNS leads, and nowhere else", { skip }, async (t) => {
  const { run, lead, states, message, certificates, certifies, bind } = await openBench(t)
  const [led, sly, bare] = ['*.led.lab.test', '*.sly.lab.test', '*.bare.lab.test']
  await lead(led, sly, bare)
  assert.ok(certifies(led))
  await run()
  assert.partialDeepStrictEqual(await states(), { [led]: 'READY', [sly]: 'FAILED', [bare]: 'FAILED' })
  assert.ok((await names(certificates)).includes(led))
  const needed = (name: string): string =>
    `The record _acme-challenge.${name}.lab.test CNAME _acme-challenge.${name}.lab.test.${domain} is needed`
  assert.ok((await message(bare)).startsWith(`${needed('bare')}, and it is missing.`))
  assert.ok((await message(sly)).startsWith(`${needed('sly')}, and it leads to victim.${domain}.`))
  assert.deepEqual(await bind.texts(`victim.${domain}`), [])
})

test('a record that an ended attempt left is removed by the next one', { skip }, async (t) => {
  const { run, lead, bind, sql } = await openBench(t)
  await lead(`shop.${domain}`)
  await run()
  const name = `_acme-challenge.${domain}`
  const { updates } = updatesOf(bind)
  await createDynamicUpdates(updates).add({ name, value: 'left-behind' }, signal)
  assert.deepEqual(await bind.texts(name), ['left-behind'])
  await sql`update host_certificate set challenge_token = ${name}, challenge_answer = 'left-behind', due_at = 'epoch'`
  await run()
  assert.deepEqual(await bind.texts(name), [])
})

test('a left record of a zone that the platform no longer has delays no certificate', { skip }, async (t) => {
  const { run, lead, states, sql } = await openBench(t)
  const host = '*.led.lab.test'
  await lead(host)
  await sql`
    insert into host_certificate (host, challenge_kind, challenge_token, challenge_answer, due_at, updated_at)
    values (${host}, 'dns-01', '_acme-challenge.led.lab.test.old.test', 'left-behind', 'epoch', now())`
  await run()
  assert.equal((await states())[host], 'READY')
})

test('name servers that do not answer are the reason, and not a missing record', { skip }, async (t) => {
  const silent = await openSilentServer(t)
  const proof = createDnsProof({
    domain,
    nameServers: [silent],
    clock: systemClock,
    records: { add: async () => {}, remove: async () => {} },
  })
  await assert.rejects(proof.place({ host: '*.led.lab.test', cluster: undefined }, signal), /name servers.*not answer/)
})

test('DNS that refuses the key fails the attempt with its reason', { skip }, async (t) => {
  const { run, lead, message, states, bind } = await openBench(t)
  await writeFile(bind.keyFile, 'key "platform" { algorithm hmac-sha256; secret "AAAAAAAAAAAAAAAAAAAAAA=="; };\n')
  await lead(`shop.${domain}`)
  await run()
  assert.equal((await states())[`shop.${domain}`], 'FAILED')
  assert.match(await message(`shop.${domain}`), /DNS did not accept the change: .*(BADSIG|TSIG|tsig)/)
})

test('without the program nsupdate the reason names its package', { skip }, async (t) => {
  const by = (bind: Bind) => ({ updates: { ...updatesOf(bind).updates, program: '/nonexistent/nsupdate' } })
  const { run, lead, message } = await openBench(t, { by })
  await lead(`shop.${domain}`)
  await run()
  assert.match(await message(`shop.${domain}`), /bind9-dnsutils/)
})

/** Opens a port of UDP at which nobody answers. */
async function openSilentServer(t: TestContext): Promise<string> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  t.after(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

/** Starts a webhook. Returns its address, and what it was asked. */
async function startWebhook(t: TestContext, change: (url: string, record: DnsRecord) => Promise<void>) {
  const asked: { readonly url: string; readonly authorization: string | undefined }[] = []
  const server = createServer(async (request, response) => {
    const { fqdn, value } = JSON.parse(await text(request))
    const { url = '', headers } = request
    asked.push({ url, authorization: headers.authorization })
    await change(url, { name: fqdn.replace(/\.$/, ''), value }).catch(() => {
      response.statusCode = 500
    })
    response.end()
  })
  const port = await findFreePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${port}/dns/`, asked }
}

test('a record that the authority does not find fails the attempt', { skip, timeout: 60_000 }, async (t) => {
  const { url, asked } = await startWebhook(t, async () => {})
  const { run, lead, message } = await openBench(t, { by: () => ({ webhook: { url } }) })
  await lead(`shop.${domain}`)
  await run()
  assert.match(await message(`shop.${domain}`), /The check in DNS failed/)
  assert.equal(asked.at(-1)?.url, '/dns/cleanup')
})

test('a webhook adds and removes the record, with its authorization', { skip }, async (t) => {
  let records: DnsRecords | undefined
  const { url, asked } = await startWebhook(
    t,
    async (path, record) =>
      void (await (path === '/dns/present' ? records?.add(record, signal) : records?.remove(record, signal))),
  )
  const by = (bind: Bind) => {
    records = createDynamicUpdates(updatesOf(bind).updates)
    return { webhook: { url, authorizationFile: bind.keyFile } }
  }
  const { run, lead, states, bind } = await openBench(t, { by })
  await lead(`shop.${domain}`)
  await run()
  assert.equal((await states())[`shop.${domain}`], 'READY')
  const authorization = (await readFile(bind.keyFile, 'utf8')).trim()
  assert.deepEqual(asked, [
    { url: '/dns/present', authorization },
    { url: '/dns/cleanup', authorization },
  ])
})

test('a record that could not be removed is removed before the next attempt', { skip }, async (t) => {
  let records: DnsRecords | undefined
  let isStuck = true
  const { url } = await startWebhook(t, async (path, record) => {
    if (path === '/dns/present') await records?.add(record, signal)
    else if (isStuck) throw new Error('stuck')
    else await records?.remove(record, signal)
  })
  const by = (bind: Bind) => {
    records = createDynamicUpdates(updatesOf(bind).updates)
    return { webhook: { url } }
  }
  const { run, lead, states, bind, sql } = await openBench(t, { by })
  await lead(`shop.${domain}`)
  await run()
  assert.equal((await states())[`shop.${domain}`], 'READY')
  assert.equal((await bind.texts(`_acme-challenge.${domain}`)).length, 1)
  isStuck = false
  await sql`update host_certificate set due_at = 'epoch'`
  await run()
  assert.deepEqual(await bind.texts(`_acme-challenge.${domain}`), [])
  assert.equal((await sql`select from host_certificate where challenge_token is not null`).length, 0)
})

test('the place of a record is below the domain of the platform', () => {
  assert.deepEqual(recordNames({ host: '*.apps.lab.test', cluster: undefined }, domain), {
    own: '_acme-challenge.apps.lab.test',
    target: '_acme-challenge.apps.lab.test',
  })
  const other = { host: '*.notapps.lab.test', cluster: undefined }
  assert.equal(recordNames(other, domain).target, '_acme-challenge.notapps.lab.test.apps.lab.test')
  // Nobody has proven the domain of a cluster.
  const own = { host: '*.far.apps.lab.test', cluster: 'id' }
  assert.equal(recordNames(own, domain).target, '_acme-challenge.far.apps.lab.test.id.apps.lab.test')
})
