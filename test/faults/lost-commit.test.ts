import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type CutDatabase, cutDatabase } from '../../server/database/testing-proxy.ts'
import { newId } from '../../server/lib/id.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * The connection is cut after PostgreSQL commits and before the server gets the answer. Only the
 * idempotency key can return the result.
 */
let way: CutDatabase | undefined
const platform = await createPlatform(
  { after },
  {
    way: async (url) => {
      way = await cutDatabase({ after }, url)
      return way
    },
  },
)
const { a, call, database } = platform
const { applicationId, environmentId } = a.objects

const cases = [
  {
    what: 'a variable',
    path: `/application/${applicationId}/environmentVariable`,
    body: { key: 'ONCE', value: 'x' },
    status: 201,
    rows: () => database`select from variable where key = 'ONCE'`,
  },
  {
    what: 'a deployment',
    path: `/application/${applicationId}/deploy`,
    body: { git_commit_id: null },
    status: 202,
    rows: () => database`select from deployment_request where environment_id = ${environmentId}`,
  },
  {
    what: 'an environment',
    path: `/project/${a.objects.projectId}/environment`,
    body: { name: 'lost', mode: 'DEVELOPMENT' },
    status: 201,
    rows: () => database`select from environment where name = 'lost'`,
  },
]

for (const { what, path, body, status, rows } of cases) {
  test(`${what} whose commit is not confirmed is 503, and the same key returns the result`, async () => {
    assert.ok(way)
    const send = (key: string) => call(a.tokens.ADMIN, 'POST', path, body, { 'idempotency-key': key })
    const key = newId()
    way.loseCommits(1)
    const lost = await send(key)
    assert.equal(way.commitsToLose(), 0, 'no commit was lost')
    assert.equal(lost.status, 503, lost.text)
    assert.equal(lost.headers['retry-after'], '1')
    const written = await platform.fingerprint()
    const again = await send(key)
    assert.deepEqual([again.status, again.headers['idempotency-replayed']], [status, 'true'], again.text)
    assert.deepEqual(await platform.fingerprint(), written)
    assert.equal((await rows()).length, 1)
  })
}
