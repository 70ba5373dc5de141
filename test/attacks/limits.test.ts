import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, type Platform } from '../support/platform.ts'

/** Groups A, J and N: how much one caller may ask for, and have. */
const settings = { QUAYSIDE_RATE_LIMIT: '1', QUAYSIDE_RATE_BURST: '5' }
const tallyOf = (answers: readonly { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]))

test('N2 another address in a header is the same caller', async (t) => {
  const { call, a } = await createPlatform(t, { settings })
  const answers = []
  for (let count = 0; count < 10; count++) {
    const address = `203.0.113.${count}`
    const headers = { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }
    answers.push(await call(count < 5 ? undefined : 'garbage', 'GET', `/organization/${a.organizationId}`, undefined, headers))
  }
  assert.deepEqual(tallyOf(answers), { 401: 5, 429: 5 })
}) // biome-ignore format: one line

test('N5 the same token is the same caller, however it asks', async (t) => {
  const { call, a } = await createPlatform(t, { settings })
  const path = `/organization/${a.organizationId}`
  const ask = (scheme: string, method: string, suffix: string) =>
    call(undefined, method, `${path}${suffix}`, undefined, { authorization: `${scheme} ${a.tokens.READ}` })
  const answers = [
    await ask('Bearer', 'GET', ''),
    await ask('token', 'HEAD', ''),
    await ask('BEARER', 'GET', '?x=1'),
    await ask('Token', 'GET', '/project'),
    await ask('Bearer', 'GET', '/%63luster'),
    await ask('bearer', 'GET', ''),
  ]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200, 429],
  )
})

/** Tokens of the right form that nobody was given; their checksums come from tokens of another installation. */
async function strangeTokens(platform: Platform, count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      platform.rooms.apiTokens.create(
        platform.a.organizationId,
        { name: 'x', permissions: ['ADMIN'] },
        { name: `${index}`, scope: 'READ' },
      ),
    ),
  )
  return made.map(({ token }) => token)
}

test('A14 N7 whoever tries tokens uses up the budget of the address, not one budget for each', async (t) => {
  const strangers = await strangeTokens(await createPlatform(t), 20)
  const { call, a } = await createPlatform(t, { settings })
  const ask = (token: string) => call(token, 'GET', `/organization/${a.organizationId}`)
  assert.equal((await ask(a.tokens.READ)).status, 200)
  const answers = []
  for (const token of strangers) answers.push(await ask(token))
  const { 401: refused = 0, 429: limited = 0 } = tallyOf(answers)
  assert.ok(refused <= 5 && limited >= 15, `${refused} and ${limited}`)
  assert.equal((await ask(a.tokens.READ)).status, 200, 'a token that was good before has a budget of its own')
})

test('N10 a caller that is limited limits nobody else', async (t) => {
  const { call, a, b } = await createPlatform(t, { settings })
  const ask = (token: string, id: string) => call(token, 'GET', `/organization/${id}`)
  await ask(b.tokens.READ, b.organizationId)
  const first = await Promise.all(Array.from({ length: 20 }, () => ask(a.tokens.READ, a.organizationId)))
  assert.ok((tallyOf(first)[429] ?? 0) > 0)
  assert.equal((await ask(b.tokens.READ, b.organizationId)).status, 200)
})

test('J18 an organization has fifty webhooks at most, also when they are made at the same time', async (t) => {
  const { call, a, b } = await createPlatform(t)
  const make = (token: string, id: string) =>
    call(token, 'POST', `/organization/${id}/webhook`, { target_url: 'https://hooks.invalid/x', events: ['DEPLOYMENT_STARTED'] })
  const answers = await Promise.all(Array.from({ length: 60 }, () => make(a.tokens.ADMIN, a.organizationId)))
  assert.deepEqual(tallyOf(answers), { 201: 49, 409: 11 })
  assert.equal((await make(b.tokens.ADMIN, b.organizationId)).status, 201)
}) // biome-ignore format: one line
