import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { testVault } from '../vault/testing.ts'
import { accountOf, forgetAccount } from './account.ts'
import { type Authority, RefusedError } from './authority.ts'

test('an order that finds its account forgotten keeps the one that another order has created since', async (t) => {
  const { sql } = await testDatabase(t)
  const options = { database: sql, vault: await testVault(t, sql), clock, log, directory: 'https://ca.test/' }
  let created = 0
  const authority: Authority = {
    register: async () => ({ url: `https://ca.test/${++created}`, key: new Secret('key') }),
    order: () => Promise.reject(new RefusedError('There are no certificates.')),
  }
  const { signal } = new AbortController()
  const [one, other] = await Promise.all([1, 2].map(() => accountOf(options, authority, signal)))
  assert.ok(one && other && one.url === other.url)
  await forgetAccount(options, one)
  const next = await accountOf(options, authority, signal)
  await forgetAccount(options, other)
  assert.equal((await accountOf(options, authority, signal)).url, next.url)
  assert.equal(created, 2)
})
