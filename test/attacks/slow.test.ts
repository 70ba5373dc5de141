import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { sendRaw } from '../support/raw.ts'

const platform = await createPlatform({ after })
const origin = await platform.listen()

test('E25 headers that never end hold a connection for ten seconds and do not delay others', async () => {
  const started = performance.now()
  const slow = Array.from({ length: 100 }, () =>
    sendRaw(origin, 'GET /organization HTTP/1.1\r\nHost: localhost\r\nX-A', { idleMs: 40_000 }),
  )
  const answer = await platform.call(platform.a.tokens.READ, 'GET', '/organization')
  assert.equal(answer.status, 200)
  for (const { isClosed, statuses } of await Promise.all(slow)) {
    assert.ok(isClosed)
    assert.deepEqual(statuses, [408])
  }
  assert.ok(performance.now() - started < 35_000)
})
