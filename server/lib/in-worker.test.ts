import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inWorker, OverLimit } from './in-worker.ts'

const call = (source: string, argument?: unknown) => ({
  module: new URL(`data:text/javascript,${encodeURIComponent(`export const work = ${source}`)}`),
  name: 'work',
  argument,
})

test('inWorker runs a function on another thread and returns its result', async () => {
  assert.deepEqual(await inWorker(call('({ a }) => [a, a]', { a: 1 })), [1, 1])
  assert.equal(await inWorker(call('() => process.env.PATH')), undefined)
})

test('inWorker throws what the function throws', async () => {
  await assert.rejects(inWorker(call('() => { throw new TypeError("no") }')), { name: 'TypeError', message: 'no' })
})

test('inWorker stops a function that takes too long without blocking this thread', async () => {
  let turns = 0
  const ticking = setInterval(() => turns++, 10)
  const limits = { limitMs: 500, memoryMiB: 64 }
  await assert.rejects(inWorker(call('() => { for (;;); }'), limits), OverLimit)
  clearInterval(ticking)
  assert.ok(turns > 10, `${turns} turns`)
})

test('inWorker stops a function that takes too much memory', async () => {
  const greedy = call('() => { const kept = []; for (;;) kept.push(new Array(100000).fill({})) }')
  await assert.rejects(inWorker(greedy, { limitMs: 60_000, memoryMiB: 32 }), OverLimit)
})
