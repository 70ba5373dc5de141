import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'

/** A stored git token is sent only to the scheme, host and port that it was given for. */
const platform = await createPlatform({ after }, { settings: { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '10.0.0.0/8' } })
const { a, call } = platform
const tokens = `/organization/${a.organizationId}/gitToken`
const stored = { name: 'place', type: 'GITLAB', git_api_url: 'https://git.example.org' }
const made = await call(a.tokens.ADMIN, 'POST', tokens, { ...stored, token: 'glpat-0123456789' })
assert.equal(made.status, 201, made.text)
const path = `${tokens}/${Object(made.body).id}`
const put = (change: object) => call(a.tokens.ADMIN, 'PUT', path, { ...stored, ...change })

for (const change of [
  { git_api_url: 'https://evil.example.org' },
  { git_api_url: 'https://git.example.org:8443' },
  { git_api_url: 'https://evil.example.org', token: '' },
  { git_api_url: null },
  { git_api_url: undefined },
  { type: 'GITHUB' },
]) {
  test(`a change to ${JSON.stringify(change)} needs the token again`, async () => {
    const before = await platform.fingerprint()
    const answer = await put(change)
    assertError(answer, 400)
    assert.match(answer.body.message, /^token must be sent again/)
    assert.deepEqual(await platform.fingerprint(), before)
  })
}

test('a service cannot use a token of https for an address of plain http or another port', async () => {
  for (const url of ['http://git.example.org/a.git', 'https://git.example.org:8443/a.git']) {
    const git_repository = { url, provider: 'GITLAB', git_token_id: Object(made.body).id }
    const body = { name: 'plain', build_mode: 'DOCKER', git_repository }
    const answer = await call(a.tokens.ADMIN, 'POST', `/environment/${a.objects.environmentId}/application`, body)
    assertError(answer, 400)
    assert.match(answer.body.message, /is for another host, scheme or port/)
  }
})

test('other changes keep the token, and with the token it may move', async () => {
  assert.equal((await put({ description: 'new', git_api_url: 'https://GIT.example.org/api' })).status, 200)
  assert.equal((await put({ git_api_url: 'https://new.example.org', token: 'glpat-new' })).status, 200)
})
