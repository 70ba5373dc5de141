import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { after, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { AcmeChallenge } from '@quayside/contract/routes.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import { providePebble } from '../../test/support/pebble/build.ts'
import { startPebble } from '../../test/support/pebble/pebble.ts'
import { until } from '../../test/support/until.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { createOwnRouter, ensureRouterProcess, type TlsSource } from '../routers/index.ts'
import { routerHome } from '../routers/own/testing.ts'
import { addPlace } from '../variables/testing.ts'
import { sealedTestVault, testVault } from '../vault/testing.ts'
import { createCertificates } from './certificates.ts'

const { signal } = new AbortController()
const files = await providePebble()
const skip = files ? false : 'this machine has no Go'
const names = await startNameServer({ after })
names.zones.set('*.lab.test', { A: '127.0.0.1' })
if (files) setDefaultCACertificates([...getCACertificates('default'), await readFile(files.serverRoot, 'utf8')])

/** Real routers that get the certificates and challenges as well. */
const serving = new Set<() => Promise<unknown>>()

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const host = 'shop.lab.test'

/** The time of the system, moved by a test. */
function movedClock(): Clock & { move(ms: number): void } {
  let offset = 0
  return {
    ...systemClock,
    now: () => new Date(Date.now() + offset),
    monotonic: () => systemClock.monotonic() + offset,
    move: (ms) => {
      offset += ms
    },
  }
}

/** A service with hosts, Pebble, and a server that answers its questions in place of the router. */
async function openBench(t: TestContext, env: Readonly<Record<string, string>> = {}, tlsPort = 1) {
  const { sql } = await testDatabase(t)
  const { serviceId } = (await addPlace(sql)).service
  const clock = movedClock()
  let challenges: readonly AcmeChallenge[] = []
  const door = { isOpen: true, asked: () => {} }
  const server = createServer(({ url = '', headers }, response) => {
    const found = challenges.find(
      ({ kind, host, token }) => kind === 'http-01' && headers.host?.startsWith(host) && url.endsWith(token),
    )
    door.asked()
    response.statusCode = found && door.isOpen ? 200 : 404
    response.end(found?.answer)
  })
  const httpPort = await findFreePort()
  await new Promise<void>((resolve) => server.listen(httpPort, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const pebble = await startPebble(t, {
    nameServer: names.address,
    httpPort,
    tlsPort,
    env: { PEBBLE_AUTHZREUSE: '0', ...env },
  })
  assert.ok(pebble)
  const vault = await testVault(t, sql)
  const lead = (hosts: readonly string[], service = serviceId) =>
    replaceHosts(
      sql,
      service,
      hosts.map((one) => ({ host: one, port_name: 'web', internal_port: 80, is_default: true })),
      clock.now(),
    )
  await lead([host])
  const open = (directory: string) => {
    const { source, reconcilers } = createCertificates({
      database: sql,
      vault,
      clock,
      log,
      settings: { directory },
      hosts: [],
      publishRoot: async () => {},
    })
    assert.ok(source)
    // One after the other, as the publisher of routes does it. An older reading never counts last.
    let turn = Promise.resolve()
    const serve = () => {
      turn = turn.then(async () => {
        challenges = (await source.material()).challenges
        for (const send of serving) await send()
      })
      return turn
    }
    const [reconciler] = reconcilers(serve)
    assert.ok(reconciler)
    return {
      run: () => reconciler.reconcile(signal),
      source,
      state: async (name = host) => (await source.states()).get(name),
      certificate: async (name = host) => {
        const found = (await source.material()).certificates.find((one) => one.host === name)
        return found && { ...found, x509: new X509Certificate(found.chain) }
      },
    }
  }
  return { sql, clock, door, pebble, lead, open, ...open(pebble.directory) }
}

/** Returns the certificates and challenges of a source. */
async function listed(source: TlsSource | undefined) {
  const { certificates, challenges } = (await source?.material()) ?? {}
  return { certificates, challenges }
}

test('a host gets a certificate of its own with its key, and its challenge is gone', { skip }, async (t) => {
  const { run, state, certificate, source, lead } = await openBench(t)
  await lead([host, 'other.lab.test'])
  assert.equal((await state())?.state, 'PENDING')
  await run()
  assert.deepEqual(await state(), { state: 'READY', message: null })
  const [one, other] = [await certificate(), await certificate('other.lab.test')]
  assert.ok(one && other)
  assert.ok(one.x509.checkHost(host) && !one.x509.checkHost('other.lab.test'))
  assert.ok(one.x509.checkPrivateKey(createPrivateKey(one.key)))
  assert.ok(!one.x509.checkPrivateKey(createPrivateKey(other.key)))
  assert.deepEqual((await source.material()).challenges, [])
})

test('a certificate is renewed at two thirds of its life and not before', { skip }, async (t) => {
  const { run, certificate, clock } = await openBench(t)
  await run()
  const serial = async () => (await certificate())?.x509.serialNumber
  const first = await serial()
  clock.move(55 * dayMs)
  await run()
  assert.equal(await serial(), first)
  clock.move(6 * dayMs)
  await run()
  assert.notEqual(await serial(), first)
})

test('the authority decides when a certificate is renewed, and is asked as often as it says', { skip }, async (t) => {
  const { run, certificate, clock, sql, pebble } = await openBench(t)
  await run()
  await run()
  const row = async () => (await sql<{ due_at: Date; window_ask_at: Date }[]>`select * from host_certificate`)[0]
  const first = await certificate()
  const window = (await row())?.due_at.getTime() ?? 0
  const ideal = (first?.x509.validToDate.getTime() ?? 0) - 30 * dayMs
  assert.ok(Math.abs(window - ideal) < dayMs + 60_000, new Date(window).toISOString())
  const past = { start: new Date(Date.now() - 2 * dayMs), end: new Date(Date.now() - dayMs) }
  await pebble.setRenewalInfo(first?.chain ?? '', { suggestedWindow: past })
  await run()
  assert.equal((await certificate())?.chain, first?.chain)
  clock.move(6.1 * 3600_000)
  await run()
  assert.notEqual((await certificate())?.chain, first?.chain)
})

test('a renewal names the certificate that it replaces, and succeeds if that is rejected', { skip }, async (t) => {
  const { run, certificate, clock, sql, pebble } = await openBench(t)
  await run()
  const first = await certificate()
  const replaced = () => pebble.output.join('').match(/has been marked as replaced/g)?.length ?? 0
  clock.move(61 * dayMs)
  await run()
  await until('Pebble knows that the first one is replaced', () => replaced() === 1)
  const second = await certificate()
  assert.notEqual(second?.chain, first?.chain)
  // A server that was restored from a backup still has the first one.
  await sql`update host_certificate set chain = ${first?.chain ?? null}, due_at = 'epoch'`
  const orders = () => pebble.output.join('').match(/POST \/order-plz/g)?.length ?? 0
  const before = orders()
  await run()
  assert.equal(orders(), before + 2)
  assert.notEqual((await certificate())?.chain, first?.chain)
  assert.equal(replaced(), 1)
})

test('an answer about a renewal that is not a window changes nothing', { skip }, async (t) => {
  const { run, certificate, clock, sql, pebble } = await openBench(t)
  await run()
  await run()
  const due = async () => (await sql<{ due_at: Date }[]>`select due_at from host_certificate`)[0]?.due_at
  const [first, before] = [await certificate(), await due()]
  for (const answer of ['window', { suggestedWindow: { start: new Date(2e12), end: new Date(1e12) } }]) {
    await pebble.setRenewalInfo(first?.chain ?? '', answer)
    clock.move(25 * 3600_000)
    await run()
    assert.deepEqual([await due(), (await certificate())?.chain], [before, first?.chain])
  }
  await pebble.stop()
  clock.move(25 * 3600_000)
  await run()
  assert.deepEqual(await due(), before)
})

test('a window after the end of a certificate does not delay its renewal until then', { skip }, async (t) => {
  const { run, certificate, clock, sql, pebble } = await openBench(t)
  await run()
  const first = await certificate()
  const due = async () => (await sql<{ due_at: Date }[]>`select due_at from host_certificate`)[0]?.due_at
  for (const year of ['2199', '+275000']) {
    const suggestedWindow = { start: `${year}-01-01T00:00:00Z`, end: `${year}-02-01T00:00:00Z` }
    await pebble.setRenewalInfo(first?.chain ?? '', { suggestedWindow })
    await run()
    assert.ok(first && Number(await due()) < first.x509.validToDate.getTime(), year)
    clock.move(25 * hourMs)
  }
})

test('a clock that is ahead does not order one certificate after the other', { skip }, async (t) => {
  const { run, state, certificate, clock } = await openBench(t)
  clock.move(100 * dayMs)
  await run()
  const first = await certificate()
  assert.equal((await state())?.state, 'EXPIRED')
  for (let runs = 0; runs < 3; runs++) {
    clock.move(60_000)
    await run()
    assert.equal((await certificate())?.chain, first?.chain)
  }
  clock.move(6 * hourMs)
  await run()
  assert.notEqual((await certificate())?.chain, first?.chain)
})

test('a clock that was ahead delays no renewal once it is right', { skip }, async (t) => {
  const { run, certificate, clock, sql } = await openBench(t)
  clock.move(3650 * dayMs)
  await run()
  clock.move(-3650 * dayMs)
  await run()
  await run()
  const [row] = await sql<{ due_at: Date }[]>`select due_at from host_certificate`
  const found = await certificate()
  assert.ok(row && found && row.due_at < found.x509.validToDate, row?.due_at.toISOString())
})

test('organizations take turns, and a long run leaves names to the next one', { skip }, async (t) => {
  const { run, clock, sql, lead, door } = await openBench(t)
  door.isOpen = false
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((label) => `${label}.lab.test`)
  await lead(many)
  await lead(['z.lab.test'], (await addPlace(sql)).service.serviceId)
  door.asked = () => clock.move(31_000)
  await run()
  const tried = async () => (await sql<{ host: string }[]>`select host from host_certificate`).map(({ host }) => host)
  const first = await tried()
  assert.ok(first.includes('z.lab.test'), first.join(' '))
  assert.ok(first.length <= 4, first.join(' '))
  for (let runs = 0; runs < 11 && (await tried()).length < 11; runs++) await run()
  assert.deepEqual((await tried()).sort(), [...many, 'z.lab.test'])
})

test('a renewal that fails keeps the certificate, and says so until it expires', { skip }, async (t) => {
  const { run, state, certificate, clock, door, sql } = await openBench(t)
  await run()
  door.isOpen = false
  clock.move(61 * dayMs)
  // At 0 % Pebble still reuses the proof of an account in one of a hundred orders.
  await sql`delete from acme_account`
  await run()
  assert.match((await state())?.message ?? '', /^its renewal failed: .+ The next attempt is at 20/)
  assert.equal((await state())?.state, 'READY')
  clock.move(30 * dayMs)
  assert.equal((await state())?.state, 'EXPIRED')
  assert.ok(await certificate())
  door.isOpen = true
  // Both ways take turns, and nobody answers at the other port here.
  const isFailed = async () => /renewal failed/.test((await state())?.message ?? '')
  for (let attempts = 0; attempts < 4 && (await isFailed()); attempts++) {
    await run()
    clock.move(hourMs)
  }
  // Pebble has the time of the system, so only the failure is over.
  assert.equal(await isFailed(), false)
})

test('a host that does not answer fails with the reason, and is tried again after a pause', { skip }, async (t) => {
  const { run, state, sql, clock, door, pebble } = await openBench(t)
  door.isOpen = false
  await run()
  const { state: found, message } = (await state()) ?? {}
  assert.equal(found, 'FAILED')
  assert.match(message ?? '', /404\. The next attempt is at 20\d\d-/)
  const orders = () => pebble.output.join('').match(/POST \/order-plz/g)?.length
  const before = orders()
  await run()
  assert.equal(orders(), before)
  door.isOpen = true
  clock.move(2 * 60_000)
  await run()
  assert.match((await state())?.message ?? '', /^The check over TLS at port 443 failed: /)
  clock.move(6 * 60_000)
  await run()
  assert.deepEqual(await state(), { state: 'READY', message: null })
  const [row] = await sql`select failures, finding from host_certificate`
  assert.deepEqual({ ...row }, { failures: 0, finding: null })
})

const byHandshake = 'a host whose port 80 is closed proves itself by a handshake'
test(`${byHandshake}, and so do the next hosts`, { skip }, (t) => proveByHandshake(t))

const skipBehind = skip || ((await missingHaproxy()) ?? false)
test(`${byHandshake} behind HAProxy`, { skip: skipBehind }, (t) => proveByHandshake(t, { haproxy }))

async function proveByHandshake(t: TestContext, front: { readonly haproxy?: string } = {}): Promise<void> {
  const tlsPort = await findFreePort()
  const { run, state, door, clock, source, lead, certificate } = await openBench(t, {}, tlsPort)
  const router = await routerHome()
  t.after(() => router.close())
  const options = { ...router.options, tls: { port: tlsPort, source }, ...front }
  await ensureRouterProcess(options)
  serving.add(() => createOwnRouter({ process: options, certificates: source }).replaceAll([], signal))
  t.after(() => serving.clear())
  door.isOpen = false
  await run()
  assert.match(
    (await state())?.message ?? '',
    /^The check over HTTP at port 80 failed: .*404.*The next attempt is at 20/,
  )
  clock.move(2 * 60_000)
  await run()
  assert.deepEqual(await state(), { state: 'READY', message: null })
  assert.ok((await certificate())?.x509.checkHost(host))
  await lead([host, 'other.lab.test'])
  await run()
  assert.deepEqual(await state('other.lab.test'), { state: 'READY', message: null })
  const before = (await certificate())?.x509.serialNumber
  clock.move(61 * dayMs)
  await run()
  assert.deepEqual(await state(), { state: 'READY', message: null })
  assert.notEqual((await certificate())?.x509.serialNumber, before)
}

test('rejected nonces are repeated', { skip }, async (t) => {
  const { run, state, pebble } = await openBench(t, { PEBBLE_WFE_NONCEREJECT: '30' })
  await run()
  assert.equal((await state())?.state, 'READY', pebble.output.slice(-5).join(''))
})

test('an account that the authority has forgotten is created again', { skip }, async (t) => {
  const { run, sql, certificate, clock, pebble } = await openBench(t)
  await run()
  const issuer = async () => (await certificate())?.x509.issuer
  const account = () => sql<{ sealed_key: string }[]>`select sealed_key from acme_account`
  const [first, [before]] = [await issuer(), await account()]
  await pebble.restart()
  clock.move(61 * dayMs)
  await run()
  assert.notEqual(await issuer(), first)
  assert.notEqual((await account())[0]?.sealed_key, before?.sealed_key)
})

test('an authority that is away is a failure with the reason', { skip }, async (t) => {
  const { run, state, pebble } = await openBench(t)
  await pebble.stop()
  await run()
  assert.match((await state())?.message ?? '', /ECONNREFUSED/)
})

test('a limit of the authority is waited for as long as it says', { skip }, async (t) => {
  const { open, sql, clock } = await openBench(t)
  const directory = await limitingAuthority(t)
  const { run, state } = open(directory)
  await run()
  assert.match((await state())?.message ?? '', /429: too many certificates/)
  const [row] = await sql<{ due_at: Date }[]>`select due_at from host_certificate`
  const pause = (row?.due_at.getTime() ?? 0) - clock.now().getTime()
  assert.ok(pause > 7100_000 && pause < 8000_000, String(pause))
})

test('a host that left the table is neither served nor ordered, and is forgotten later', { skip }, async (t) => {
  const { run, sql, source, lead, clock } = await openBench(t)
  await run()
  await lead([])
  assert.deepEqual(await listed(source), { certificates: [], challenges: [] })
  assert.deepEqual([...(await source.states())], [])
  clock.move(61 * dayMs)
  await run()
  assert.equal((await sql`select from host_certificate`).length, 1)
  clock.move(40 * dayMs)
  await run()
  assert.equal((await sql`select from host_certificate`).length, 0)
})

test('without the master key there is no certificate, and the state says why', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId } = (await addPlace(sql)).service
  await replaceHosts(sql, serviceId, [{ host, port_name: 'web', internal_port: 80, is_default: true }], new Date())
  await testVault(t, sql)
  const options = { database: sql, vault: await sealedTestVault(t, sql), clock: systemClock, log }
  const settings = { directory: 'https://localhost:1/directory' }
  const { source, reconcilers } = createCertificates({ ...options, settings, hosts: [], publishRoot: async () => {} })
  await reconcilers(async () => {})[0]?.reconcile(signal)
  assert.match((await source?.states())?.get(host)?.message ?? '', /sealed/)
  assert.deepEqual(await listed(source), { certificates: [], challenges: [] })
})

/** An authority that has accounts, but whose limit of orders is reached for two hours. */
async function limitingAuthority(t: TestContext): Promise<string> {
  assert.ok(files)
  const keys = { key: await readFile(files.serverKey), cert: await readFile(files.serverCertificate) }
  const port = await findFreePort()
  const at = (path: string): string => `https://localhost:${port}/${path}`
  const server = createSecureServer(keys, ({ url }, response) => {
    response.setHeader('Replay-Nonce', 'nonce')
    response.setHeader('Content-Type', 'application/json')
    if (url === '/account') response.writeHead(201, { Location: at('account/1') }).end('{}')
    else if (url !== '/order')
      response.end(JSON.stringify({ newNonce: at('nonce'), newAccount: at('account'), newOrder: at('order') }))
    else {
      const type = 'urn:ietf:params:acme:error:rateLimited'
      response.writeHead(429, { 'Retry-After': '7200' }).end(JSON.stringify({ type, detail: 'too many certificates' }))
    }
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  return at('directory')
}
