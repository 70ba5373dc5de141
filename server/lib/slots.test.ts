import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlots, TooManyWaiting } from './slots.ts'

const never = new AbortController().signal

test('slots run all work, and at most the given number at once', async () => {
  const slots = createSlots(2)
  let running = 0
  let most = 0
  const gates: (() => void)[] = []
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => gates.push(resolve))
    running--
  }
  const all = Array.from({ length: 6 }, () => slots.run(never, work))
  for (let opened = 0; opened < 6; opened++) {
    while (gates.length === 0) await new Promise(setImmediate)
    gates.shift()?.()
  }
  await Promise.all(all)
  assert.equal(most, 2)
})

test('a cancelled waiter takes no slot', async () => {
  const slots = createSlots(1)
  let open = (): void => {}
  const first = slots.run(never, () => new Promise<void>((resolve) => (open = resolve)))
  const impatient = new AbortController()
  const second = slots.run(impatient.signal, async () => 'second')
  const third = slots.run(never, async () => 'third')
  impatient.abort(new Error('gave up'))
  await assert.rejects(second, /gave up/)
  open()
  await first
  assert.equal(await third, 'third')
})

test('slots go round-robin: a hundred waiters of one owner delay another by one at most', async () => {
  const slots = createSlots(1)
  const order: string[] = []
  const wait = async (owner: string): Promise<void> => {
    using _ = await slots.take(never, owner)
    order.push(owner)
  }
  const held = await slots.take(never)
  const waiting = [...Array.from({ length: 100 }, () => wait('a')), wait('b'), wait('b')]
  held[Symbol.dispose]()
  await Promise.all(waiting)
  assert.deepEqual(order.slice(0, 5), ['a', 'b', 'a', 'b', 'a'])
  assert.equal(order.length, 102)
})

test('an owner without a slot uses the reserve when another owner holds all slots', async () => {
  const slots = createSlots(2, { reserve: 1 })
  const held = [await slots.take(never, 'a'), await slots.take(never, 'a')]
  assert.equal(slots.takeNow('a'), undefined)
  const other = slots.takeNow('b')
  assert.ok(other)
  assert.equal(slots.takeNow('c'), undefined)
  const waiting = slots.take(never, 'a')
  other[Symbol.dispose]()
  let isRunning = false
  const next = waiting.then(() => (isRunning = true))
  await new Promise(setImmediate)
  assert.ok(!isRunning, 'an owner that holds slots does not get the reserve')
  for (const slot of held) slot[Symbol.dispose]()
  await next
})

test('an owner at its own limit waits, and lets another owner pass', async () => {
  const slots = createSlots(4, { perOwner: 2 })
  const [first] = [await slots.take(never, 'a'), await slots.take(never, 'a')]
  const third = slots.take(never, 'a')
  using _ = await slots.take(never, 'b')
  first?.[Symbol.dispose]()
  await third
})

test('an owner with a full queue is refused, and another owner still waits', async () => {
  const slots = createSlots(1, { mostWaiting: 2 })
  const held = await slots.take(never, 'a')
  const waiting = [slots.take(never, 'a'), slots.take(never, 'a'), slots.take(never, 'b')]
  await assert.rejects(slots.take(never, 'a'), TooManyWaiting)
  held[Symbol.dispose]()
  await Promise.all(waiting.map(async (one) => (await one)[Symbol.dispose]()))
  using _ = await slots.take(never, 'a')
})
