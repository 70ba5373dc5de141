import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import { type TestContext, test } from 'node:test'
import { secureClient } from '../../test/support/https.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createCertificates } from './certificates.ts'

const { signal } = new AbortController()
const hosts = ['shop.localhost', '*.pages.localhost', 'intranet']

/** An installation with an authority of its own and a service at these hosts. */
async function openBench(t: TestContext) {
  const { sql } = await testDatabase(t)
  const { serviceId } = (await addPlace(sql)).service
  const port = { port_name: 'web', internal_port: 80, is_default: true }
  await replaceHosts(
    sql,
    serviceId,
    hosts.map((host) => ({ ...port, host })),
    clock.now(),
  )
  const roots: string[] = []
  const { source, reconcilers, certifies } = createCertificates({
    database: sql,
    vault: await testVault(t, sql),
    clock,
    log,
    settings: { directory: 'local' },
    hosts: [],
    publishRoot: async (root) => void roots.push(root),
  })
  const [reconciler] = reconcilers(async () => {})
  assert.ok(source && reconciler)
  return { sql, roots, source, certifies, run: () => reconciler.reconcile(signal) }
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
