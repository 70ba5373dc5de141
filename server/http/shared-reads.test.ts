import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../../test/support/seed.ts'
import { systemClock } from '../lib/clock.ts'
import { SharedReads } from './shared-reads.ts'

/** Reads whose executions end when the test says so. */
function openReads(clock = systemClock) {
  const reads = new SharedReads<string>(clock)
  const executions: { readonly name: string; readonly end: (answer: string) => void; readonly fail: () => void }[] = []
  let arrival = 0
  const read = (name: string, { key = 'a', at = ++arrival } = {}): Promise<string> =>
    reads.read({
      key,
      arrival: at,
      execute: () => {
        const { promise, resolve, reject } = Promise.withResolvers<string>()
        executions.push({ name, end: resolve, fail: () => reject(new Error(`${name} failed`)) })
        return promise
      },
    })
  const names = () => executions.map(({ name }) => name)
  return { reads, read, executions, names }
}

const never = { ...systemClock, sleep: () => new Promise<never>(() => {}) }
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('equal reads of one turn share the execution of the newest', async () => {
  const { reads, read, executions, names } = openReads()
  const answers = Promise.all([read('first', { at: 5 }), read('newest', { at: 7 }), read('second', { at: 6 })])
  await turn()
  assert.deepEqual(names(), ['newest'])
  executions[0]?.end('answer')
  assert.deepEqual(await answers, ['answer', 'answer', 'answer'])
  await turn()
  assert.equal(reads.size, 0)
})

test('reads that arrive during an execution share the next one', async () => {
  const { read, executions, names } = openReads(never)
  const first = read('first')
  await turn()
  const later = [read('second'), read('third')]
  await turn()
  assert.deepEqual(names(), ['first'])
  executions[0]?.end('old')
  assert.equal(await first, 'old')
  await turn()
  assert.deepEqual(names(), ['first', 'third'])
  executions[1]?.end('new')
  assert.deepEqual(await Promise.all(later), ['new', 'new'])
})

test('reads with different keys share nothing', async () => {
  const { read, executions, names } = openReads(never)
  const answers = Promise.all([read('of one', { key: 'one' }), read('of another', { key: 'another' })])
  await turn()
  assert.deepEqual(names(), ['of one', 'of another'])
  for (const { name, end } of executions) end(`the answer ${name}`)
  assert.deepEqual(await answers, ['the answer of one', 'the answer of another'])
})

test('an error goes to the reads that share it, and the next ones are executed', async () => {
  const { read, executions } = openReads(never)
  const failing = Promise.allSettled([read('first'), read('second')])
  await turn()
  const next = read('third')
  executions[0]?.fail()
  for (const outcome of await failing) assert.match(String(Object(outcome).reason), /second failed/)
  await turn()
  executions[1]?.end('answer')
  assert.equal(await next, 'answer')
})

test('a slow execution delays the next one by its patience, not by its length', async () => {
  let pass = (): void => {}
  const sleep = (_: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      pass = resolve
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  const { reads, read, executions, names } = openReads({ ...systemClock, sleep })
  const slow = read('slow')
  await turn()
  const next = read('next')
  await turn()
  assert.deepEqual(names(), ['slow'])
  pass()
  await turn()
  assert.deepEqual(names(), ['slow', 'next'])
  executions[1]?.end('new')
  assert.equal(await next, 'new')
  executions[0]?.end('old')
  assert.equal(await slow, 'old')
  await turn()
  assert.equal(reads.size, 0)
})

test('no answer is older than its request, and none is of another key', async (t) => {
  const random = seeded(t, 'shared reads')
  const reads = new SharedReads<{ readonly key: string; readonly value: number }>(systemClock)
  const stored = new Map([
    ['a', 0],
    ['b', 0],
  ])
  const pause = async (): Promise<void> => {
    for (let turns = random.below(4); turns > 0; turns--) await turn()
  }
  let [arrivals, executions] = [0, 0]
  const request = async (key: string): Promise<void> => {
    const arrival = ++arrivals
    const written = stored.get(key) ?? 0
    // Authorization takes a while, and ends in any order. It reads a part of the answer.
    await pause()
    const authorized = stored.get(key) ?? 0
    await pause()
    const execute = async () => {
      executions++
      await pause()
      const value = random.below(2) === 0 ? authorized : (stored.get(key) ?? 0)
      await pause()
      return { key, value }
    }
    const answer = await reads.read({ key, arrival, execute })
    assert.equal(answer.key, key)
    assert.ok(answer.value >= written, `${answer.value} is older than ${written}`)
  }
  const clients = Array.from({ length: 24 }, async (_, client) => {
    const key = client % 2 === 0 ? 'a' : 'b'
    for (let round = 0; round < 60; round++) {
      if (random.below(4) === 0) stored.set(key, (stored.get(key) ?? 0) + 1)
      await request(key)
      await pause()
    }
  })
  await Promise.all(clients)
  await turn()
  assert.equal(reads.size, 0)
  assert.ok(executions < arrivals, 'some are shared')
  t.diagnostic(`${arrivals} reads in ${executions} executions`)
})
