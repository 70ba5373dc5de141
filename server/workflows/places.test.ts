import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextWaiter, Places } from './places.ts'

const limits = { all: 5, perOwner: 2, reserve: 2, platformReserve: 1 }
const one = { all: 1, perOwner: 1, reserve: 0, platformReserve: 0 }
const { signal } = new AbortController()

test('the waiter of the owner with the fewest places is next, from the reserve only without any', () => {
  const waiting = ['a', 'b', 'b'].map((owner, index) => ({ owner, index }))
  assert.equal(nextWaiter(waiting, ['a'], limits)?.index, 1)
  assert.equal(nextWaiter(waiting, [], limits)?.index, 0)
  assert.equal(nextWaiter(waiting, ['a', 'a', 'c'], limits)?.index, 1)
  assert.equal(nextWaiter(waiting, ['a', 'b', 'c'], limits), undefined)
  assert.equal(nextWaiter(waiting, ['a', 'c', 'c', 'd'], limits), undefined)
  assert.equal(nextWaiter(waiting.slice(0, 1), ['a', 'a'], limits), undefined)
})

test('a place that becomes free goes to a waiter before work that begins', async () => {
  const left: number[] = []
  const places: Places = new Places(limits, () => void left.push(places.free))
  for (const id of ['1', '2', '3', '4']) places.take(id, 'c')
  const waiting = places.takeInOrder('5', 'a', signal)
  places.leave('1')
  await waiting
  assert.deepEqual(left, [1])
  places.leave('unknown')
  assert.deepEqual(left, [1])
})

test('a place is taken at once when all are taken, and by a waiter whose other step needs it', async () => {
  const places = new Places(one, () => {})
  places.take('1', 'a')
  const waiting = places.takeInOrder('2', 'b', signal)
  places.take('2', 'b')
  await waiting
  assert.equal(places.free, 0)
  places.leave('1')
  assert.equal(places.free, 0)
  places.leave('2')
  assert.equal(places.free, 1)
})

test('an aborted waiter returns without a place, and nobody serves it later', async () => {
  const places = new Places(one, () => {})
  places.take('1', 'a')
  const aborting = new AbortController()
  const waiting = places.takeInOrder('2', 'b', aborting.signal)
  aborting.abort()
  await waiting
  places.leave('1')
  assert.equal(places.free, 1)
})
