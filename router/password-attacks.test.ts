import assert from 'node:assert/strict'
import { scryptSync } from 'node:crypto'
import { test } from 'node:test'
import { type BasicCredential, passwordCost, type Route } from '@quayside/contract/routes.ts'
import { until } from '../test/support/until.ts'
import { limits } from './limits.ts'
import { compileLogins, hashFor } from './logins.ts'
import { Passwords } from './passwords.ts'
import { portOf, type TestBed, testBed } from './test-bed.ts'

const { bytes, ...cost } = passwordCost
const salt = Buffer.alloc(16, 7)
const hashOf = (secret: string): string =>
  `scrypt:${salt.toString('base64url')}:${scryptSync(secret, salt, bytes, cost).toString('base64url')}`
const shared = hashOf('right')
const logins = (names: readonly string[]): readonly BasicCredential[] => names.map((login) => ({ login, hash: shared }))
const as = (login: string, password: string) => `Basic ${Buffer.from(`${login}:${password}`).toString('base64')}`
const hundred = Array.from({ length: 100 }, (_, at) => at)

/** A router with services of two organizations, whose clients a proxy names. */
async function twoOrganizations(t: Parameters<typeof testBed>[0], basicAuth: readonly BasicCredential[]) {
  const bed = await testBed(t, { trusted: ['127.0.0.1'] })
  const app = await bed.application((_request, response) => response.end('in'))
  const endpoints = [{ address: '127.0.0.1', port: portOf(app) }]
  const route = (service: string, organization: string, credentials: readonly BasicCredential[]): Route => ({
    host: `${service}.localhost`,
    service,
    organization,
    name: service,
    endpoints,
    rules: { basicAuth: credentials },
  })
  const routes = [
    ...hundred.slice(0, 10).map((at) => route(`evil${at}`, 'evil', basicAuth)),
    route('shop', 'good', logins(hundred.map((at) => `user${at}`))),
  ]
  assert.equal((await bed.tell('PUT', '/routes', { version: 1, routes })).status, 200)
  return bed
}

const guess = async (bed: TestBed, service: string, login: string, password: string, client: string) => {
  const headers = { authorization: as(login, password), 'x-forwarded-for': client }
  return (await bed.ask({ host: `${service}.localhost`, headers })).status
}

test('wrong passwords at the services of one organization delay no other organization', async (t) => {
  // A table of an older server may repeat a login. A password of each differs.
  const repeated = hundred.map((at) => ({ login: 'x', hash: at === 0 ? shared : hashOf(`other ${at}`) }))
  const bed = await twoOrganizations(t, repeated)
  let isOver = false
  const answers: number[] = []
  const attackers = hundred.slice(0, 60).map(async (client) => {
    for (let turn = 0; !isOver; turn++) {
      const login = turn % 2 === 0 ? 'x' : `unknown${turn}`
      const password = `wrong ${turn}`.repeat(turn % 3 === 0 ? 50 : 1).slice(0, 512)
      answers.push(await guess(bed, `evil${client % 10}`, login, password, `10.0.0.${client}`))
    }
  })
  await until('the attack has begun', () => answers.length > 200)
  const seen: number[] = []
  let longestMs = 0
  for (const at of hundred.slice(0, 20)) {
    const beganAt = performance.now()
    seen.push(await guess(bed, 'shop', `user${at}`, 'right', `192.0.2.${at}`))
    longestMs = Math.max(longestMs, performance.now() - beganAt)
  }
  isOver = true
  await Promise.all(attackers)
  assert.deepEqual(new Set(seen), new Set([200]))
  assert.ok(longestMs < 1_500, `a right password took ${longestMs} ms`)
  assert.deepEqual(new Set(answers), new Set([401, 429]))
})

test('wrong passwords of many clients at a service leave another service of its organization open', async (t) => {
  const bed = await twoOrganizations(t, logins(['x']))
  const wrong = hundred.map((client) => guess(bed, 'evil0', 'x', `wrong ${client}`, `10.0.0.${client}`))
  assert.equal(await guess(bed, 'evil1', 'x', 'right', '192.0.2.1'), 200)
  await Promise.all(wrong)
})

test('a client gets no more checks by other logins or requests at the same time', async (t) => {
  const bed = await twoOrganizations(t, logins(['x']))
  const answers = await Promise.all(hundred.map((at) => guess(bed, 'evil0', `login${at}`, 'right', '10.0.0.1')))
  const checked = answers.filter((status) => status === 401).length
  assert.ok(checked > 0 && checked <= limits.wrongPasswords.burst + 5, `${checked} checks`)
  // Another client has its own pot.
  assert.equal(await guess(bed, 'evil0', 'x', 'right', '10.0.0.2'), 200)
})

test('equal passwords of one client at the same time are checked once', async () => {
  const passwords = new Passwords()
  const asker = { owner: 'o', service: 's', client: '192.0.2.1' }
  const credentials = compileLogins(logins(['ann']))
  const verdicts = hundred.map(() => passwords.check(credentials, as('ann', 'right'), asker))
  assert.deepEqual(new Set(await Promise.all(verdicts)), new Set(['good']))
  assert.equal(passwords.check(credentials, as('ann', 'right'), asker), 'good')
})

test('an unknown login is compared with one hash of the list, always the same', () => {
  const credentials = compileLogins(hundred.map((at) => ({ login: `user${at}`, hash: `hash ${at}` })))
  const chosen = new Set(hundred.map((at) => hashFor(credentials, `nobody${at}`).hash))
  assert.ok(chosen.size > 20, 'unknown logins use all forms of hashes that the list has')
  for (const login of ['nobody', '', 'user']) {
    assert.deepEqual(hashFor(credentials, login), hashFor(credentials, login))
    assert.equal(hashFor(credentials, login).exists, false)
  }
  assert.deepEqual(hashFor(credentials, 'user7'), { hash: 'hash 7', exists: true })
})

test('the first of equal logins counts', () => {
  const twice = compileLogins([
    { login: 'ann', hash: 'one' },
    { login: 'ann', hash: 'other' },
  ])
  assert.deepEqual([twice.hashes, hashFor(twice, 'ann').hash], [['one'], 'one'])
})

test('a request does not reach a service that got its host while its password was checked', async (t) => {
  const bed = await twoOrganizations(t, logins(['x']))
  const other = await bed.application((_request, response) => response.end('other'))
  const waiting = hundred.slice(0, 30).map((client) => guess(bed, 'evil0', 'x', `wrong ${client}`, `10.0.0.${client}`))
  const headers = { authorization: as('x', 'right'), 'x-forwarded-for': '192.0.2.1' }
  const asked = bed.ask({ host: 'evil0.localhost', headers })
  const endpoints = [{ address: '127.0.0.1', port: portOf(other) }]
  const rules = { allow: ['203.0.113.0/24'] }
  const moved = { host: 'evil0.localhost', service: 'another', name: 'another', endpoints, rules }
  assert.equal((await bed.tell('PUT', '/routes', { version: 2, routes: [moved] })).status, 200)
  const { status, body } = await asked
  assert.ok((status === 503 || status === 403) && body !== 'other', `${status} ${body}`)
  await Promise.all(waiting)
})
