import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UntilEvent } from './until-event.ts'

function source() {
  let [count, nowMs, reads]: [number | undefined, number, number] = [0, 0, 0]
  const held = new UntilEvent<number>({ clock: { monotonic: () => nowMs }, events: { count: () => count } })
  return {
    count: (to: number | undefined) => {
      count = to
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    look: async () => (await held.get(async () => ++reads)).value,
    held,
  }
}

test('a result is reused until the next event, and for at most ten seconds', async () => {
  const { look, count, pass } = source()
  assert.equal(await look(), 1)
  pass(9_999)
  assert.equal(await look(), 1)
  count(1)
  assert.equal(await look(), 2)
  pass(10_000)
  assert.equal(await look(), 3)
})

test('nothing is reused while Docker reports no events', async () => {
  const { look, count } = source()
  count(undefined)
  assert.deepEqual([await look(), await look()], [1, 2])
  count(0)
  assert.equal(await look(), 3)
})

test('an event during a read, or a read that fails, is followed by another read', async () => {
  const { look, count, held } = source()
  await held.get(async () => {
    count(1)
    return 0
  })
  assert.equal(await look(), 1)
  count(2)
  await assert.rejects(
    held.get(() => Promise.reject(new Error('away'))),
    /away/,
  )
  assert.deepEqual([await look(), await look()], [2, 2])
})
