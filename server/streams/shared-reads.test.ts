import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedReads } from './shared-reads.ts'

test('readers of the same key share one read until it is too old, and a failure as well', async () => {
  let now = 0
  let count = 0
  const shared = new SharedReads<number>({ monotonic: () => now }, 1_000)
  const read = async () => ++count
  assert.deepEqual(await Promise.all([shared.get('a', read), shared.get('a', read), shared.get('b', read)]), [1, 1, 2])
  now = 999
  assert.equal(await shared.get('a', read), 1)
  now = 1_000
  assert.equal(await shared.get('a', read), 3)
  const fail = () => Promise.reject(new Error('away'))
  now = 2_000
  await assert.rejects(shared.get('a', fail), /away/)
  await assert.rejects(shared.get('a', read), /away/)
  now = 3_000
  assert.equal(await shared.get('a', read), 4)
})
