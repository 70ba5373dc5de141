import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eachAtOnce } from './each-at-once.ts'

const { signal } = new AbortController()

test('no more than the given number of items are worked on at a time', async () => {
  let [now, most] = [0, 0]
  const done: number[] = []
  await eachAtOnce(
    [1, 2, 3, 4, 5],
    2,
    async (item) => {
      now++
      most = Math.max(most, now)
      await new Promise(setImmediate)
      now--
      done.push(item)
    },
    signal,
  )
  assert.equal(most, 2)
  assert.deepEqual(done.toSorted(), [1, 2, 3, 4, 5])
})

test('the first failure aborts the others, and is thrown after they have ended', async () => {
  const ended: string[] = []
  const failing = eachAtOnce(
    ['waits', 'fails', 'never begins'],
    2,
    async (item, bounded) => {
      if (item === 'fails') throw new Error('no')
      await new Promise((resolve) => bounded.addEventListener('abort', resolve))
      ended.push(item)
    },
    signal,
  )
  await assert.rejects(failing, { message: 'no' })
  assert.deepEqual(ended, ['waits'])
})

test('an abort of the caller is thrown as it is', async () => {
  const stop = new AbortController()
  const waiting = eachAtOnce(
    [1],
    1,
    (_, bounded) =>
      new Promise((_resolve, reject) => bounded.addEventListener('abort', () => reject(new Error('other')))),
    stop.signal,
  )
  stop.abort(new Error('stopped'))
  await assert.rejects(waiting, { message: 'stopped' })
})
