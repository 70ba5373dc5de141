import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, type TestContext, test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { findFreePort } from '../../test/support/free-port.ts'
import { startNameServer } from '../../test/support/name-server.ts'
import { providePebble } from '../../test/support/pebble/build.ts'
import { startPebble } from '../../test/support/pebble/pebble.ts'
import { startPebbleProxy } from '../../test/support/pebble/proxy.ts'
import { until } from '../../test/support/until.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createAcmeAuthority } from './acme.ts'
import type { Authority, HostProof } from './authority.ts'
import { createCertificateReconciler } from './reconciler.ts'

const files = await providePebble()
const skip = files ? false : 'this machine has no Go'
const names = await startNameServer({ after })
if (files) setDefaultCACertificates([...getCACertificates('default'), await readFile(files.serverRoot, 'utf8')])

const host = 'shop.lab.test'

/** An account at Pebble, whose answers to paths that begin with `held` wait for `release`. */
async function openBench(t: TestContext, held: string) {
  const pebble = await startPebble(t, { nameServer: names.address, httpPort: await findFreePort() })
  assert.ok(pebble)
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = async (path: string): Promise<void> => {
    if (!path.startsWith(held)) return
    reached.resolve()
    await released.promise
  }
  const proxy = await startPebbleProxy(t, { directory: pebble.directory, hold })
  const authority = createAcmeAuthority({ directory: proxy.directory })
  const account = await authority.register(new AbortController().signal)
  return { proxy, authority, account, reached: reached.promise, release: released.resolve }
}

test('an order that has ended publishes no challenge and asks nothing more', { skip }, async (t) => {
  const { proxy, authority, account, reached, release } = await openBench(t, '/authZ')
  const ending = new AbortController()
  const published: HostProof[] = []
  const publish = async (proof: HostProof) => void published.push(proof)
  const ended = assert.rejects(authority.order(account, { host, kind: 'http-01' }, publish, ending.signal), /too late/)
  await reached
  ending.abort(new Error('too late'))
  await ended
  const before = proxy.paths.length
  release()
  // A second order needs more requests than the first one would still send.
  const later = authority.order(
    account,
    { host: 'other.lab.test', kind: 'http-01' },
    publish,
    AbortSignal.timeout(9000),
  )
  await assert.rejects(later)
  assert.deepEqual(
    published.map((one) => one.host),
    ['other.lab.test'],
  )
  assert.equal(new Set(proxy.paths.slice(before).filter((path) => path.startsWith('/chalZ'))).size, 1)
})

test('an order that ends while its challenge is published does not have it checked', { skip }, async (t) => {
  const { proxy, authority, account, release } = await openBench(t, '/none')
  release()
  const ending = new AbortController()
  const [inPublish, mayReturn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const publish = async (): Promise<void> => {
    inPublish.resolve()
    await mayReturn.promise
  }
  const ended = assert.rejects(authority.order(account, { host, kind: 'http-01' }, publish, ending.signal), /too late/)
  await inPublish.promise
  ending.abort(new Error('too late'))
  await ended
  const before = proxy.paths.length
  mayReturn.resolve()
  await authority.register(new AbortController().signal)
  assert.deepEqual(
    proxy.paths.slice(before).filter((path) => path.startsWith('/chalZ')),
    [],
  )
})

test('an order that has ended does not write over the challenge of the next one', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId } = (await addPlace(sql)).service
  await replaceHosts(sql, serviceId, [{ host, port_name: 'web', internal_port: 80, is_default: true }], clock.now())
  const publishing: ((proof: HostProof) => Promise<void>)[] = []
  // An authority that hangs, and whose library works on after the end of an order.
  const authority: Authority = {
    register: async () => ({ url: 'account', key: new Secret('key') }),
    order: (_account, _order, publish, signal) =>
      new Promise((_resolve, reject) => {
        publishing.push(publish)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const { reconcile } = createCertificateReconciler({
    ...{ database: sql, vault: await testVault(t, sql), clock, log, directory: 'https://ca.test/', hosts: [] },
    ...{ authority: async () => authority, serve: async () => {}, at: 'machine' },
  })
  const orders = [new AbortController(), new AbortController()] as const
  const first = assert.rejects(reconcile(orders[0].signal), /ended/)
  await until('the first order began', () => publishing.length === 1)
  orders[0].abort(new Error('ended'))
  await first
  await sql`update host_certificate set due_at = 'epoch'`
  const second = assert.rejects(reconcile(orders[1].signal), /ended/)
  await until('the second order began', () => publishing.length === 2)
  const proof = (token: string): HostProof => ({ kind: 'http-01', host, token, answer: `${token}.key` })
  await publishing[1]?.(proof('second'))
  await assert.rejects(async () => publishing[0]?.(proof('first')), /ended/)
  assert.deepEqual(
    [...(await sql`select challenge_token, challenge_answer from host_certificate`)].map((row) => ({ ...row })),
    [{ challenge_token: 'second', challenge_answer: 'second.key' }],
  )
  orders[1].abort(new Error('ended'))
  await second
})
