import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { sealedTestVault, testVault } from '../vault/testing.ts'
import { createIssuerKeys } from './issuer-keys.ts'

const { sql } = await testDatabase({ after })
const vault = await testVault({ after }, sql)
let now = new Date('2030-01-01T00:00:00Z')
const options = { database: sql, vault, clock: { ...systemClock, now: () => now } }
const dayMs = 24 * 3600 * 1000

test('concurrent first uses create one key, and its private part is not in the database', async () => {
  const all = await Promise.all([1, 2, 3].map(() => createIssuerKeys(options).privateKeys()))
  const [[key] = []] = all
  assert.deepEqual(new Set(all.map(([{ kid }]) => kid)).size, 1)
  const [row] = await sql<{ text: string }[]>`select k::text as text from issuer_key k`
  assert.ok(key && typeof key.d === 'string' && row && !row.text.includes(key.d))
  const { keys } = await createIssuerKeys(options).publicKeys()
  assert.deepEqual(
    keys.map(({ kid, d, p }) => [kid, d, p]),
    [[key.kid, undefined, undefined]],
  )
})

test('a new key signs after ninety days, and the previous one is listed until its last token has expired', async () => {
  const issuerKeys = createIssuerKeys(options)
  const [{ kid: former }] = await issuerKeys.privateKeys()
  now = new Date(now.getTime() + 91 * dayMs)
  const [{ kid: next }, ...others] = await issuerKeys.privateKeys()
  assert.notEqual(next, former)
  assert.deepEqual(
    others.map(({ kid }) => kid),
    [former],
  )
  assert.equal((await issuerKeys.publicKeys()).keys.length, 2)
  now = new Date(now.getTime() + 2 * dayMs)
  assert.deepEqual(
    (await issuerKeys.privateKeys()).map(({ kid }) => kid),
    [next],
  )
})

test('while the vault is sealed nothing is signed, and existing signatures can be verified', async () => {
  const sealed = createIssuerKeys({ ...options, vault: await sealedTestVault({ after }, sql) })
  await assert.rejects(sealed.privateKeys(), { code: 'sealed' })
  assert.equal((await sealed.publicKeys()).keys.length, 1)
})
