import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { insertAccount } from '../access/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { createDevices } from './devices.ts'
import { ownAccounts } from './issuer.ts'
import { savePassword } from './password-store.ts'
import { checkPassword, findRight, hashPassword } from './passwords.ts'
import { createSignIn } from './sign-in.ts'

const { sql } = await testDatabase({ after })
let now = new Date('2030-01-01T00:00:00Z')
const clock = { ...systemClock, now: () => now }
const later = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1000)
}
const password = 'correct horse battery'
const hashed = await hashPassword(password)

async function addAccount(email: string): Promise<string> {
  const id = newId()
  const names = { name: email, first_name: '', last_name: '' }
  await insertAccount(sql, { id, issuer: ownAccounts, subject: id, email, ...names }, now)
  await savePassword(sql, id, hashed, now)
  return id
}

test('a password is stored as a salted digest and matches any of its Unicode forms', async () => {
  const again = await hashPassword(password)
  assert.notDeepEqual(again.hash, hashed.hash)
  assert.ok(await findRight(password, [hashed]))
  assert.ok(!(await findRight(`${password}x`, [hashed])))
  assert.ok(!(await findRight(password, [])))
  const composed = await hashPassword('caf\u00e9 au lait froid')
  assert.ok(await findRight('cafe\u0301 au lait froid', [composed]))
  const older = { ...hashed, cost: 2 ** 10 }
  assert.ok(!(await findRight(password, [older])), 'the cost is part of the digest')
})

test('the password selects among accounts with the same address, also if their salts differ', async () => {
  const like = await hashPassword('another battery', hashed)
  const other = await hashPassword('a third battery')
  assert.deepEqual(like.salt, hashed.salt)
  const rows = [hashed, like, other]
  assert.equal(await findRight(password, rows), hashed)
  assert.equal(await findRight('another battery', rows), like)
  assert.equal(await findRight('a third battery', rows), other)
  assert.equal(await findRight('no battery at all', rows), undefined)
})

test('a password that is too short or too long is rejected', () => {
  assert.throws(() => checkPassword('password', 'x'.repeat(11)), { code: 'invalid', message: /^password / })
  assert.throws(() => checkPassword('password', 'x'.repeat(201)), { code: 'invalid' })
  assert.equal(checkPassword('password', 'x'.repeat(12)), 'x'.repeat(12))
})

test('an unknown address and a wrong password are indistinguishable', async () => {
  await addAccount('told@a.example')
  const signIn = createSignIn({ database: sql, clock })
  const failure = async (email: string) =>
    signIn({ email, password: 'wrong horse battery', address: newId() }).then(
      () => assert.fail('signed in'),
      ({ code, message }) => ({ code, message }),
    )
  assert.deepEqual(await failure('told@a.example'), await failure('nobody@a.example'))
})

/** The counts do not depend on the duration of a comparison. */
const quickSignIn = () =>
  createSignIn({ database: sql, clock, rightOf: async (given, rows) => (given === password ? rows[0] : undefined) })

test('N7, N8: failures of a client make its next attempt wait, longer each time, across a restart', async () => {
  const id = await addAccount('waits@a.example')
  const attempt = (given: string) => quickSignIn()({ email: ' Waits@A.example', password: given, address: '192.0.2.7' })
  for (let count = 0; count < 5; count++) await assert.rejects(attempt('wrong horse battery'), { code: 'unauthorized' })
  await assert.rejects(attempt(password), { code: 'tooManyRequests', message: /in 5 s/ })
  later(6)
  await assert.rejects(attempt('wrong horse battery'), { code: 'unauthorized' })
  await assert.rejects(attempt(password), { code: 'tooManyRequests', message: /in 10 s/ })
  later(11)
  assert.equal(await attempt(password), id)
  assert.equal(await attempt(password), id)
})

test('failures elsewhere keep nobody out, until there are a hundred from all clients together', async () => {
  const id = await addAccount('known@a.example')
  const attempt = (given: string, address: string) =>
    quickSignIn()({ email: 'known@a.example', password: given, address })
  const home = '192.0.2.80'
  for (let client = 0; client < 20; client++) {
    for (let count = 0; count < 5; count++) {
      // A success between the failures returns its own attempt and no other.
      if (client === 10 && count === 0) assert.equal(await attempt(password, home), id)
      await assert.rejects(attempt('wrong horse battery', `198.51.100.${client}`), { code: 'unauthorized' })
    }
  }
  await assert.rejects(attempt(password, home), { code: 'tooManyRequests', message: /in 5 s/ })
})

test('a browser in which the person signed in before has a count of its own', async () => {
  const [id, other] = [await addAccount('device@a.example'), await addAccount('other@a.example')]
  const devices = createDevices({ publicUrl: 'https://quayside.example.org', pepper: Buffer.alloc(32, 1) })
  const deviceOf = (account: string) => devices.of(devices.remember(undefined, account, now).split(';', 1)[0], now)
  const attempt = (given: string, known: ReturnType<typeof deviceOf>, address: string = newId()) =>
    quickSignIn()({ email: 'device@a.example', password: given, address, devices: known })
  for (let count = 0; count < 100; count++) await attempt('wrong horse battery', []).catch(() => undefined)
  await assert.rejects(attempt(password, []), { code: 'tooManyRequests' })
  await assert.rejects(attempt(password, deviceOf(other)), { code: 'tooManyRequests' }, 'a browser of somebody else')
  const known = deviceOf(id)
  assert.equal(await attempt(password, known), id)
  for (let count = 0; count < 5; count++) {
    await assert.rejects(attempt('wrong horse battery', known), { code: 'unauthorized' }, 'from any address')
  }
  await assert.rejects(attempt(password, known), { code: 'tooManyRequests' }, 'a stolen cookie')
  assert.equal(await attempt(password, deviceOf(id)), id)
})

test('N3: a client that tries many accounts must wait too, also within its own /64', async () => {
  const signIn = quickSignIn()
  const attempt = (count: number) =>
    signIn({ email: `${newId()}@a.example`, password: 'x', address: `2001:db8:1:2::${count}` })
  for (let count = 1; count <= 20; count++) await assert.rejects(attempt(count), { code: 'unauthorized' })
  await assert.rejects(attempt(99), { code: 'tooManyRequests' })
})

test('concurrent attempts are all counted', async () => {
  await addAccount('rush@a.example')
  const signIn = quickSignIn()
  const attempts = Array.from({ length: 12 }, () =>
    signIn({ email: 'rush@a.example', password: 'wrong horse battery', address: '192.0.2.9' }).catch(
      ({ code }) => code,
    ),
  )
  const codes = await Promise.all(attempts)
  assert.ok(codes.every((code) => code === 'unauthorized' || code === 'tooManyRequests'))
  assert.equal(codes.filter((code) => code === 'unauthorized').length, 5, codes.join())
  await assert.rejects(signIn({ email: 'rush@a.example', password, address: '192.0.2.9' }), { code: 'tooManyRequests' })
})

test('many attempts of one client delay another client by at most one hash, and each is counted', async () => {
  const id = await addAccount('fair@a.example')
  const signIn = createSignIn({ database: sql, clock })
  let answered = 0
  const attempt = (count: number) =>
    signIn({ email: `${newId()}@a.example`, password: 'wrong horse battery', address: `2001:db8:9:9::${count}` })
      .catch(({ code, message }) => `${code} ${message}`)
      .finally(() => void answered++)
  const flood = Array.from({ length: 40 }, (_, count) => attempt(count + 1))
  const others = ['192.0.2.50', '192.0.2.51'].map((address) => {
    return signIn({ email: 'fair@a.example', password, address }).then((account) => ({ account, answered }))
  })
  for (const { account, answered: before } of await Promise.all(others)) {
    assert.equal(account, id)
    // Attempts beyond the queue are rejected at once.
    assert.ok(before <= 29 + 3, `${before} attempts were answered before`)
  }
  const answers = await Promise.all(flood)
  const count = (text: string) => answers.filter((answer) => answer?.includes(text)).length
  assert.deepEqual([count('is wrong'), count('are waiting')], [11, 29])
})
