import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { unknownId } from './requests.ts'

/**
 * Repairs a request that breaks every rule, one rule at a time. Each answer names the rule that is
 * checked next: `mountContract` and docs/api.md state the same order.
 */
const platform = await createPlatform({ after }, { settings: { QUAYSIDE_RATE_LIMIT: '1', QUAYSIDE_RATE_BURST: '20' } })
const { a, b } = platform
const badToken = 'quay_none'
const json = { 'content-type': 'application/json' }

const put = (token: string, id: string, query: string, body: string, headers: Record<string, string> = json) =>
  platform.app.inject({
    method: 'PUT',
    url: `/application/${id}${query}`,
    headers: { ...headers, host: 'localhost:3000', authorization: `Bearer ${token}` },
    payload: body,
  })

const tooLong = `{"name": "${'x'.repeat(300_000)}"}`
const badBody = '{"cpu": "much"}'
const badQuery = '?dry_run=maybe'
const foreign = b.objects.applicationId

for (const [what, status, message, request] of [
  ['a body that is too large', 413, /larger than/, () => put(badToken, foreign, badQuery, tooLong)],
  [
    'a body of another type',
    415,
    /application\/json/,
    () => put(badToken, foreign, badQuery, badBody, { 'content-type': 'text/plain' }),
  ],
  ['a token that is not valid', 401, /token/i, () => put(badToken, foreign, badQuery, badBody)],
  [
    'an object of another organization',
    404,
    /^The application [0-9a-f-]{36} does not exist\.$/,
    () => put(a.tokens.READ, foreign, badQuery, badBody),
  ],
  [
    'an id that does not exist',
    404,
    /^The application [0-9a-f-]{36} does not exist\.$/,
    () => put(a.tokens.READ, unknownId, badQuery, badBody),
  ],
  ['a missing permission', 403, /WRITE/, () => put(a.tokens.READ, a.objects.applicationId, badQuery, badBody)],
  ['a bad query', 400, /^dry_run/, () => put(a.tokens.WRITE, a.objects.applicationId, badQuery, badBody)],
  ['a bad body', 400, /^cpu/, () => put(a.tokens.WRITE, a.objects.applicationId, '', badBody)],
] as const) {
  test(`${what} is reported before any later check`, async () => {
    const answer = await request()
    assert.equal(answer.statusCode, status, answer.body)
    assert.match(answer.json().message, message)
  })
}

test('the rate limit is checked before the token', async () => {
  const spent = async (): Promise<boolean> => (await put(badToken, foreign, '', badBody)).statusCode === 429
  for (let tries = 0; tries < 40; tries++) if (await spent()) return
  assert.fail('forty requests with an invalid token were all answered')
})
