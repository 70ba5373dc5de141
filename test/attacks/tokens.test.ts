import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'

const platform = await createPlatform({ after })
const { a, b, call, database, rooms } = platform
const good = a.tokens.ADMIN
const path = `/organization/${a.organizationId}`
const origin = await platform.listen()

const ask = (authorization: string | undefined) =>
  call(undefined, 'GET', path, undefined, authorization === undefined ? {} : { authorization })

const refused: Record<string, Record<string, string>> = {
  A2: { empty: '', 'scheme alone': 'Bearer', 'scheme and space': 'Token ', 'two spaces': 'Token  ' },
  A3: { Basic: `Basic ${btoa(`x:${good}`)}`, Digest: `Digest ${good}`, ApiKey: `ApiKey ${good}`, bare: good },
  A8: {
    'one byte flipped': `Bearer ${good.slice(0, -8)}${good.at(-8) === 'a' ? 'b' : 'a'}${good.slice(-7)}`,
    'one byte less': `Bearer ${good.slice(0, -1)}`,
    'one byte more': `Bearer ${good}0`,
    'a space within': `Bearer ${good.slice(0, 20)} ${good.slice(20)}`,
    'two spaces before': `Bearer  ${good}`,
    'a NUL, encoded': `Bearer ${good}%00`,
    'a tab': `Bearer\t${good}`,
    'a look-alike': `Bearer ${good.replace('quay', 'qu\u00e0y')}`,
    'two tokens': `Bearer ${good}, Bearer ${good}`,
  },
  A17: { SQL: "Bearer ' OR 1=1--", operator: 'Bearer $where', star: 'Bearer *', wildcard: 'Bearer quay_%_%' },
}
for (const [id, cases] of Object.entries(refused)) {
  for (const [what, authorization] of Object.entries(cases)) {
    test(`${id}: 401 for an Authorization header with ${what}`, async () => {
      const answer = await ask(authorization)
      assert.equal(answer.status, 401, answer.text)
    })
  }
}

test('A4, A7: both schemes, in any spelling, accept the same token', async () => {
  for (const scheme of ['Bearer', 'Token', 'token', 'BEARER', 'tOkEn']) {
    assert.equal((await ask(`${scheme} ${good}`)).status, 200, scheme)
  }
})

test('A5: two Authorization headers are refused, whichever is valid', async () => {
  for (const pair of [
    [good, 'bad'],
    ['bad', good],
    [good, good],
  ]) {
    const headers = pair.map((token) => `Authorization: Bearer ${token}`)
    const { statuses } = await sendRaw(origin, rawRequest(`GET ${path}`, headers), { answers: 1 })
    assert.deepEqual(statuses, [400])
  }
})

test('A6: a token is valid nowhere else and is not logged', async () => {
  for (const name of ['token', 'access_token', 'authorization', 'api_key']) {
    assert.equal((await call(undefined, 'GET', `${path}?${name}=${good}`)).status, 401)
  }
  for (const name of ['x-api-key', 'cookie', 'x-authorization', 'proxy-authorization']) {
    assert.equal((await call(undefined, 'GET', path, undefined, { [name]: `token=${good}` })).status, 401)
  }
  assert.equal((await call(undefined, 'POST', `${path}/project`, { token: good, name: 'x' })).status, 401)
  assert.ok(platform.logged.every((line) => !line.includes(good)))
})

test('A9: a token of 16 kB ends the connection before any lookup', async () => {
  const long = rawRequest(`GET ${path}`, [`Authorization: Bearer quay_${'a'.repeat(20_000)}`])
  const { statuses, isClosed } = await sendRaw(origin, long)
  assert.deepEqual(statuses, [431])
  assert.ok(isClosed)
})

test('A10: a token is valid until it expires by the database’s clock', async () => {
  const { id, token } = await rooms.apiTokens.create(
    a.organizationId,
    { name: 'x', permissions: ['ADMIN'] },
    { name: 'a10' },
  )
  const until = (moment: string) =>
    database`update api_token set expires_at = now() + ${moment}::interval where id = ${id}`
  await until('5 seconds')
  assert.equal((await ask(`Bearer ${token}`)).status, 200)
  await until('-1 millisecond')
  assert.equal((await ask(`Bearer ${token}`)).status, 401)
})

test('A11, A18: no call that begins after the answer to a revocation succeeds', async () => {
  const made = await call(good, 'POST', `${path}/apiToken`, { name: 'a11', scope: 'READ' })
  const { id, token } = Object(made.body)
  let isRevoked = false
  const late: number[] = []
  const calls = Array.from({ length: 50 }, async () => {
    for (let turn = 0, ownLate = 0; turn < 10 || ownLate < 1; turn++) {
      const beganLate = isRevoked
      const { status } = await ask(`Bearer ${token}`)
      if (!beganLate) continue
      ownLate++
      late.push(status)
    }
  })
  assert.equal((await call(good, 'DELETE', `${path}/apiToken/${id}`)).status, 204)
  isRevoked = true
  await Promise.all(calls)
  assert.ok(late.length >= calls.length)
  assert.deepEqual([...new Set(late)], [401])
})

test('A12: the tokens of a deleted organization are invalid', async (t) => {
  const other = await createPlatform(t)
  await other.database`delete from environment`
  await other.database`delete from organization where id = ${other.b.organizationId}`
  const answer = await other.call(other.b.tokens.ADMIN, 'GET', '/organization')
  assert.equal(answer.status, 401, answer.text)
})

test('A15: a known key with a wrong secret is answered like an unknown key', async () => {
  const [, key] = good.split('_')
  const strange = b.tokens.ADMIN.split('_')
  const { 'x-request-id': _one, ...known } = (await ask(`Bearer quay_${key}_${strange[2]}`)).headers
  const unknown = await ask(`Bearer quay_${'0'.repeat(16)}_${strange[2]}`)
  const { 'x-request-id': _two, ...other } = unknown.headers
  assert.deepEqual(known, other)
})

test('A16: a token is shown once', async () => {
  const made = await call(good, 'POST', `${path}/apiToken`, { name: 'a16', scope: 'READ' })
  const { id, token } = Object(made.body)
  assert.equal(made.headers['cache-control'], 'no-store')
  const listed = await call(good, 'GET', `${path}/apiToken`)
  assert.ok(listed.text.includes(id))
  assert.ok(!listed.text.includes(token.split('_')[2]))
})

test('A19: neither a token nor its plain digest is in the database', async () => {
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`
  const rows = await Promise.all(tables.map(({ name }) => database`select t::text as text from ${database(name)} t`))
  const dump = JSON.stringify(rows)
  const secret = good.split('_')[2] ?? ''
  assert.ok(dump.includes(good.split('_')[1] ?? '?'), 'the dump holds the key id')
  const forms = [good, secret, secret.slice(0, 43)]
  for (const text of [...forms, ...forms.map((form) => createHash('sha256').update(form).digest('hex'))]) {
    assert.ok(!dump.includes(text))
  }
})

test('A20: no operation gives access before the first token exists', async () => {
  for (const operation of ['/setup', '/bootstrap', '/restore', '/login', '/admin', '/register', '/api/setup']) {
    for (const method of ['GET', 'POST']) assert.equal((await call(undefined, method, operation)).status, 404)
  }
  for (const [name, password] of [
    ['admin', 'admin'],
    ['admin', ''],
    ['root', 'quayside'],
  ]) {
    assert.equal((await ask(`Basic ${btoa(`${name}:${password}`)}`)).status, 401)
  }
})
