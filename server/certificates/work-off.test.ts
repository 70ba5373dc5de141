import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { testDatabase } from '../database/testing.ts'
import { replaceHosts } from '../domains/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import type { Authority } from './authority.ts'
import { createCertificateReconciler } from './reconciler.ts'

test('names that hang delay no names of another organization, also when those are due later', async (t) => {
  const { sql } = await testDatabase(t)
  const lead = async (hosts: readonly string[]): Promise<void> => {
    const { serviceId } = (await addPlace(sql)).service
    const port = { port_name: 'web', internal_port: 80, is_default: true }
    await replaceHosts(
      sql,
      serviceId,
      hosts.map((host) => ({ ...port, host })),
      new Date(),
    )
  }
  const ordered: string[] = []
  // An authority that waits for the servers of every name.
  const authority: Authority = {
    register: async () => ({ url: 'account', key: new Secret('key') }),
    order: (_account, { host }, _publish, signal) =>
      new Promise((_resolve, reject) => {
        ordered.push(host)
        signal.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const { reconcile } = createCertificateReconciler({
    ...{
      database: sql,
      vault: await testVault(t, sql),
      clock,
      log,
      runMs: 200,
      directory: 'https://ca.test/',
      hosts: [],
    },
    ...{ authority: async () => authority, serve: async () => {}, at: 'machine' },
  })
  const stopping = new AbortController()
  await lead(['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.hangs.test`))
  await lead(['shop.first.test'])
  await reconcile(stopping.signal)
  await until('the first run has begun its orders', () => ordered.length === 4)
  assert.ok(ordered.includes('shop.first.test'), ordered.join(' '))
  await lead(['shop.second.test'])
  await reconcile(stopping.signal)
  await until('the next run has begun its order', () => ordered.includes('shop.second.test'))
  assert.equal(ordered.length, 5)
  stopping.abort(new Error('the server stops'))
  // Also the orders of earlier runs have ended then.
  await reconcile(stopping.signal)
})
