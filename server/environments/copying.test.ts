import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'

/** No workflow runs here, so a copy is never completed. */
const { a, call } = await createPlatform({ after })
const ask = (method: string, path: string, body?: unknown) => call(a.tokens.ADMIN, method, path, body)

test('an environment can be read and deleted but not changed while it is being copied', async () => {
  const made = await ask('POST', `/environment/${a.objects.environmentId}/clone`, { name: 'in the making' })
  assert.equal(made.status, 202, made.text)
  const path = `/environment/${Object(made.body).id}`
  assert.equal((await ask('GET', path)).status, 200)
  assert.deepEqual(Object((await ask('GET', `${path}/services`)).body).results, [])
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  for (const [place, body] of [
    ['application', { name: 'web', git_repository }],
    ['environmentVariable', { key: 'A', value: 'b' }],
    ['deploymentStage', { name: 'stage' }],
    ['deploy', undefined],
    ['clone', { name: 'a copy of the copy' }],
  ] as const) {
    const answer = await ask('POST', `${path}/${place}`, body)
    assert.equal(answer.status, 409, `${place}: ${answer.text}`)
    assert.match(Object(answer.body).message, /copy is still in progress|is being copied/)
  }
  assert.equal((await ask('DELETE', path)).status, 204)
  assert.equal((await ask('GET', path)).status, 404)
})
