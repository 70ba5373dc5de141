import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { saveCreationLimits, usualLimits } from '../../server/limits/index.ts'
import { createPlatform } from '../support/platform.ts'
import { now } from '../support/until.ts'

/** Groups A, J and N: how much one caller may request and have. */
const limited = await createPlatform({ after }, { settings: { QUAYSIDE_RATE_LIMIT: '1', QUAYSIDE_RATE_BURST: '5' } })
const free = await createPlatform({ after })
const { a, b } = limited

const tallyOf = (answers: readonly { status: number }[]) =>
  Object.fromEntries([...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]))

/**
 * Sends requests from one address. Each test has its own address, because callers of an address
 * share its budget.
 */
const from =
  (remoteAddress: string) =>
  async (authorization: string | undefined, url: string, more: { method?: 'HEAD'; headers?: object } = {}) => {
    const headers = { host: 'localhost', ...more.headers, ...(authorization && { authorization }) }
    const answer = await limited.app.inject({ method: more.method ?? 'GET', url, headers, remoteAddress })
    return { status: answer.statusCode }
  }
/** Returns how many requests a burst of five and one a second allow since then. */
const allowedSince = (began: number): number => 5 + Math.ceil((now() - began) / 1000)

test('N2 a caller stays the same whatever address its headers name', async () => {
  const ask = from('198.51.100.2')
  const began = now()
  const answers = []
  for (let count = 0; count < 30; count++) {
    const address = `203.0.113.${count}`
    const headers = { 'x-forwarded-for': address, 'x-real-ip': address, forwarded: `for=${address}` }
    answers.push(await ask(count % 2 ? undefined : 'Bearer garbage', `/organization/${a.organizationId}`, { headers }))
  }
  const { 401: refused = 0, 429: stopped = 0 } = tallyOf(answers)
  assert.equal(refused + stopped, 30)
  assert.ok(refused >= 5 && refused <= allowedSince(began), `${refused} of 30`)
})

test('N5 a token is one caller, however it is sent', async () => {
  const ask = from('198.51.100.5')
  const path = `/organization/${a.organizationId}`
  const token = a.tokens.READ
  const began = now()
  const answers = [
    await ask(`Bearer ${token}`, path),
    await ask(`token ${token}`, path, { method: 'HEAD' }),
    await ask(`BEARER ${token}`, `${path}?x=1`),
    await ask(`Token ${token}`, `${path}/project`),
    await ask(`Bearer ${token}`, `${path}/%63luster`),
  ]
  assert.deepEqual(tallyOf(answers), { 200: 5 })
  const more = await Promise.all(Array.from({ length: 20 }, () => ask(`bearer ${token}`, path)))
  const { 200: passed = 0, 429: stopped = 0 } = tallyOf(more)
  assert.ok(stopped > 0 && passed + 5 <= allowedSince(began), `${passed} of 20`)
})

test('N6 the git host says when a caller may try again', async () => {
  const url = '/git/none.git/info/refs?service=git-upload-pack'
  const ask = () => limited.app.inject({ url, headers: { host: 'localhost' }, remoteAddress: '198.51.100.6' })
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  const refused = answers.filter(({ statusCode }) => statusCode === 429)
  assert.ok(refused.length > 0)
  for (const { headers } of refused) assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
})

/** Makes unknown tokens of the right form. They come from another installation. */
async function strangeTokens(count: number): Promise<string[]> {
  const made = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      free.rooms.apiTokens.create(
        free.a.organizationId,
        { name: 'x', permissions: ['ADMIN'] },
        { name: `${index}`, scope: 'READ' },
      ),
    ),
  )
  return made.map(({ token }) => token)
}

test('A14 N7 guessed tokens share the budget of their address', async () => {
  const strangers = await strangeTokens(20)
  const ask = (token: string) => from('198.51.100.14')(`Bearer ${token}`, `/organization/${a.organizationId}`)
  assert.equal((await ask(a.tokens.DEPLOY)).status, 200)
  const began = now()
  const answers = []
  for (const token of strangers) answers.push(await ask(token))
  const { 401: refused = 0, 429: stopped = 0 } = tallyOf(answers)
  assert.equal(refused + stopped, 20)
  assert.ok(refused <= allowedSince(began), `${refused} of 20`)
  assert.equal((await ask(a.tokens.DEPLOY)).status, 200, 'a token that was valid before has its own budget')
})

test('N10 a caller at its limit does not limit others', async () => {
  const ask = (token: string, id: string) => from('198.51.100.10')(`Bearer ${token}`, `/organization/${id}`)
  await ask(b.tokens.READ, b.organizationId)
  const first = await Promise.all(Array.from({ length: 20 }, () => ask(a.tokens.WRITE, a.organizationId)))
  assert.ok((tallyOf(first)[429] ?? 0) > 0)
  assert.equal((await ask(b.tokens.READ, b.organizationId)).status, 200)
})

test('J18 an organization has at most fifty webhooks, also if they are made at the same time', async () => {
  const body = { target_url: 'https://hooks.invalid/x', events: ['DEPLOYMENT_STARTED'] }
  const make = (tenant: typeof free.a) =>
    free.call(tenant.tokens.ADMIN, 'POST', `/organization/${tenant.organizationId}/webhook`, body)
  await saveCreationLimits(free.database, usualLimits)
  const answers = await Promise.all(Array.from({ length: 60 }, () => make(free.a)))
  assert.deepEqual(tallyOf(answers), { 201: 49, 409: 11 })
  assert.equal((await make(free.b)).status, 201)
})

test('without a limit no answer has headers about it, for the API, the git host and event streams', async () => {
  const headers = { authorization: `Token ${free.a.tokens.ADMIN}`, host: 'localhost' }
  const paths = [
    `/organization/${free.a.organizationId}`,
    '/no-such-path',
    '/organization/garbage',
    '/account/sign-in',
    '/git/x.git/info/refs',
  ]
  for (const url of paths) {
    for (const given of [headers, { host: 'localhost' }]) {
      const answer = await free.app.inject({ method: 'GET', url, headers: given })
      const named = Object.keys(answer.headers).filter((name) => name.startsWith('x-ratelimit'))
      assert.deepEqual(named, [], `${url} ${answer.statusCode}`)
    }
  }
})
