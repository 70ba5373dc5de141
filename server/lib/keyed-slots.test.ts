import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyedSlots } from './keyed-slots.ts'

test('keyed slots give each key one holder at a time and forget unused keys', async () => {
  const slots = createKeyedSlots()
  const { signal } = new AbortController()
  const order: string[] = []
  const first = await slots.take('a', signal)
  const second = slots.take('a', signal).then((slot) => {
    order.push('second')
    slot[Symbol.dispose]()
  })
  const other = await slots.take('b', signal)
  order.push('other')
  other[Symbol.dispose]()
  assert.deepEqual([slots.isTaken('a'), slots.isTaken('b')], [true, false])
  const stop = new AbortController()
  const third = slots.take('a', stop.signal)
  stop.abort(new Error('given up'))
  await assert.rejects(third, /given up/)
  order.push('first ends')
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  await second
  assert.deepEqual(order, ['other', 'first ends', 'second'])
  assert.equal(slots.isTaken('a'), false)
})

test('keyed slots give a key several slots, round-robin across owners, and forget it when unused', async () => {
  const slots = createKeyedSlots(4, { perOwner: 2 })
  const { signal } = new AbortController()
  const order: string[] = []
  const take = async (owner: string): Promise<Disposable> => {
    const slot = await slots.take('organization', signal, owner)
    order.push(owner)
    return slot
  }
  const [first, second] = [await take('a'), await take('a')]
  const third = take('a')
  const other = await take('b')
  assert.deepEqual(order, ['a', 'a', 'b'])
  for (const slot of [first, second, other]) slot[Symbol.dispose]()
  const last = await third
  assert.equal(slots.isTaken('organization'), true)
  last[Symbol.dispose]()
  assert.equal(slots.isTaken('organization'), false)
})
