import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'

/** The secret of a webhook is sent only to the scheme, host and port that it was given for. */
const platform = await createPlatform({ after })
const { a, call } = platform
const webhooks = `/organization/${a.organizationId}/webhook`
const stored = { kind: 'STANDARD', target_url: 'https://a.example.org/hook', events: ['DEPLOYMENT_STARTED'] }
const create = async (extra: object) => {
  const made = await call(a.tokens.ADMIN, 'POST', webhooks, { ...stored, ...extra })
  assert.equal(made.status, 201, made.text)
  const path = `${webhooks}/${Object(made.body).id}`
  return (change: object) => call(a.tokens.ADMIN, 'PUT', path, { ...stored, ...change })
}
const put = await create({ target_secret: 'my-own-secret' })

for (const target_url of [
  'https://b.example.org/hook',
  'https://a.example.org:8443/hook',
  'http://a.example.org/hook',
  'https://a.example.org@b.example.org/hook',
]) {
  test(`a change of target_url to ${target_url} needs the secret again`, async () => {
    const before = await platform.fingerprint()
    assertError(await put({ target_url }), 400)
    assert.deepEqual(await platform.fingerprint(), before)
  })
}

test('the reason says that the secret must be sent again', async () => {
  const answer = await put({ target_url: 'https://b.example.org/hook' })
  assertError(answer, 400)
  assert.match(answer.body.message, /^target_secret must be sent again.*"https:\/\/a\.example\.org"/)
})

test('a change of the path keeps the secret, and with the secret the webhook may move', async () => {
  const path = await put({ target_url: 'https://a.example.org:443/other' })
  assert.equal(path.status, 200, path.text)
  assert.equal(Object(path.body).target_secret_set, true)
  assert.equal((await put({ target_url: 'https://b.example.org/hook', target_secret: 'another' })).status, 200)
  const removed = await put({ target_url: 'https://a.example.org/hook', target_secret: null })
  assert.equal(removed.status, 200, removed.text)
  assert.equal(Object(removed.body).target_secret_set, false)
})

test('a webhook without a secret of its own may move', async () => {
  const free = await create({})
  assert.equal((await free({ target_url: 'https://b.example.org/hook' })).status, 200)
})
