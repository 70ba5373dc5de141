import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unitOfWork } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { addPlace } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createReplyPruner, keepReply, takeKey } from './kept-replies.ts'

async function setUp(t: Parameters<typeof testDatabase>[0]) {
  const { sql } = await testDatabase(t)
  const vault = await testVault(t, sql)
  const { organizationId } = (await addPlace(sql)).project
  const at = { now: new Date('2026-01-01T00:00:00Z') }
  const options = { vault, clock: { ...systemClock, now: () => at.now } }
  const asked = { caller: 'ann', key: 'k', request: 'POST /x {}' }
  const take = (change: Partial<typeof asked> = {}) => takeKey(options, sql, { ...asked, ...change })
  const answer = (change: Partial<typeof asked> = {}) =>
    keepReply(options, sql, { ...asked, ...change }, { status: 201, body: '{"token":"canary"}', organizationId })
  return { sql, options, at, take, answer }
}

test('the same request gets the same reply, which is stored sealed', async (t) => {
  const { sql, take, answer } = await setUp(t)
  assert.equal(await take(), undefined)
  await answer()
  assert.deepEqual(await take(), { status: 201, body: '{"token":"canary"}' })
  const [row] = await sql`select k::text as text from kept_reply k`
  assert.doesNotMatch(row?.['text'], /canary/)
})

test('a key belongs to its caller, and is rejected when the body differs', async (t) => {
  const { take, answer } = await setUp(t)
  await take()
  await answer()
  assert.equal(await take({ caller: 'bob' }), undefined)
  await assert.rejects(take({ request: 'POST /x {"a":1}' }), /Idempotency-Key: this key was used for a request/)
})

test('a failed request keeps no reply', async (t) => {
  const { sql, take } = await setUp(t)
  const failed = unitOfWork(sql, async () => {
    await take()
    throw new Error('failed')
  })
  await assert.rejects(failed, /failed/)
  assert.equal(await take(), undefined)
})

test('a concurrent request with the same key waits for the first and gets its reply', async (t) => {
  const { sql, take, answer } = await setUp(t)
  const begun = Promise.withResolvers<void>()
  const first = unitOfWork(sql, async () => {
    const kept = await take()
    begun.resolve()
    await answer()
    return kept
  })
  await begun.promise
  const second = await unitOfWork(sql, take)
  assert.deepEqual([await first, second?.status], [undefined, 201])
})

test('a key is free again after a day, and its reply is deleted', async (t) => {
  const { sql, options, at, take, answer } = await setUp(t)
  await take()
  await answer()
  at.now = new Date(at.now.getTime() + 24 * 3_600_000 + 1)
  assert.equal(await take({ request: 'another' }), undefined)
  at.now = new Date(at.now.getTime() + 24 * 3_600_000 + 1)
  await createReplyPruner({ database: sql, clock: options.clock }).reconcile()
  assert.equal((await sql`select from kept_reply`).length, 0)
})
