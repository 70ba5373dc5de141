import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import { type TestContext, test } from 'node:test'
import { secureClient } from '../../test/support/https.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createCertificates } from './certificates.ts'

const { signal } = new AbortController()
const hosts = ['shop.localhost', '*.pages.localhost', 'intranet']

/** An installation with an authority of its own and a service at these hosts. */
async function openBench(t: TestContext) {
  const { sql } = await testDatabase(t)
  let offset = 0
  const clock = { ...systemClock, now: () => new Date(Date.now() + offset) }
  const { serviceId } = (await addPlace(sql)).service
  const port = { port_name: 'web', internal_port: 80, is_default: true }
  await replaceHosts(
    sql,
    serviceId,
    hosts.map((host) => ({ ...port, host })),
    clock.now(),
  )
  const roots: string[] = []
  const nexts: (string | undefined)[] = []
  const { source, reconcilers, certifies } = createCertificates({
    database: sql,
    vault: await testVault(t, sql),
    clock,
    log,
    settings: { directory: 'local' },
    hosts: [],
    publishRoot: async (root, next) => {
      roots.push(root)
      nexts.push(next)
    },
  })
  const [reconciler] = reconcilers(async () => {})
  assert.ok(source && reconciler)
  const move = (days: number): void => {
    offset += days * 86_400_000
  }
  return { sql, roots, nexts, source, certifies, move, run: () => reconciler.reconcile(signal) }
}

test('every host gets a certificate that clients accept once they trust the root', async (t) => {
  const { roots, source, certifies, run } = await openBench(t)
  await run()
  assert.ok(hosts.every((host) => certifies(host)))
  assert.equal(new Set(roots).size, 1)
  const { certificates } = await source.material()
  assert.deepEqual(certificates.map(({ host }) => host).sort(), hosts.toSorted())
  for (const { host, chain, key } of certificates) {
    const server = createServer({ cert: chain, key }, (_request, response) => response.end('ok'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const bound = server.address()
    assert.ok(bound && typeof bound === 'object')
    const client = secureClient({ port: bound.port, root: roots[0] ?? '' })
    try {
      assert.equal((await client.ask(host.replace('*', 'one'))).body, 'ok')
      await assert.rejects(client.ask('other.localhost'), /altnames/i)
    } finally {
      client.close()
      server.close().closeAllConnections()
    }
  }
})

test('the root makes certificates for servers only, and stays the same', async (t) => {
  const { sql, roots, source, run } = await openBench(t)
  await run()
  await sql`update host_certificate set due_at = '2026-01-01'`
  await run()
  assert.equal(new Set(roots).size, 1)
  const root = new X509Certificate(roots[0] ?? '')
  assert.ok(root.ca)
  for (const { chain } of (await source.material()).certificates) {
    const leaf = new X509Certificate(chain)
    assert.ok(leaf.verify(root.publicKey) && leaf.checkIssued(root) && !leaf.ca)
    assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  }
  const [{ sealed_key = '' } = {}] = await sql<{ sealed_key: string }[]>`select sealed_key from acme_account`
  assert.doesNotMatch(sealed_key, /PRIVATE/)
})

/** Returns the roots of a published text. */
const rootsIn = (text = ''): readonly X509Certificate[] =>
  text
    .split(/(?=-----BEGIN)/)
    .filter((part) => part.startsWith('-----BEGIN'))
    .map((part) => new X509Certificate(part))

test('the next root is published two years before the end of a root, and signs only near that end', async (t) => {
  const { sql, roots, nexts, source, run, move } = await openBench(t)
  const renewed = async () => {
    await sql`update host_certificate set due_at = 'epoch'`
    await run()
    const { certificates } = await source.material()
    return new X509Certificate(certificates[0]?.chain ?? '')
  }
  await run()
  const [first] = rootsIn(roots.at(-1))
  assert.ok(first)
  move(7.9 * 365)
  assert.ok((await renewed()).verify(first.publicKey))
  assert.equal(rootsIn(roots.at(-1)).length, 1)
  assert.deepEqual([...new Set(nexts)], [undefined])
  move(0.2 * 365)
  assert.ok((await renewed()).verify(first.publicKey))
  const [kept, next] = rootsIn(roots.at(-1))
  assert.ok(next && kept?.fingerprint256 === first.fingerprint256)
  assert.equal(rootsIn(nexts.at(-1))[0]?.fingerprint256, next.fingerprint256)
  move(1.7 * 365)
  const leaf = await renewed()
  assert.ok(leaf.verify(next.publicKey) && leaf.checkIssued(next))
  assert.deepEqual(
    rootsIn(roots.at(-1)).map(({ serialNumber }) => serialNumber),
    [first.serialNumber, next.serialNumber],
  )
})

test('a clock that was years ahead does not replace the root that people trust', async (t) => {
  const { sql, roots, source, run, move } = await openBench(t)
  await run()
  const [first] = rootsIn(roots.at(-1))
  for (const days of [11 * 365, -11 * 365]) {
    move(days)
    await sql`update host_certificate set due_at = 'epoch'`
    await run()
  }
  const { certificates } = await source.material()
  assert.ok(first && new X509Certificate(certificates[0]?.chain ?? '').verify(first.publicKey))
})
