import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createCollector } from './collector.ts'
import type { StoredLine } from './line.ts'
import type { LineStore } from './line-store.ts'
import type { CollectorOptions } from './service-feed.ts'
import { LogSource, openStore, TestClock, temporaryDirectory } from './test-support.ts'

interface Stage {
  readonly store: LineStore
  readonly source: LogSource
  readonly clock: TestClock
  readonly collect: (options?: Partial<CollectorOptions>) => ReturnType<typeof createCollector>
}

async function prepare(t: TestContext): Promise<Stage> {
  const store = openStore(t, await temporaryDirectory(t))
  const source = new LogSource()
  const clock = new TestClock()
  const collect = (options: Partial<CollectorOptions> = {}) => {
    const collector = createCollector({ sourceOf: async () => source, store, clock, log: silentLogger, ...options })
    t.after(() => collector.close())
    return collector
  }
  return { store, source, clock, collect }
}

const at = (second: number, ns = 0): string =>
  `2025-01-01T00:${String(Math.floor(second / 60)).padStart(2, '0')}:${String(second % 60).padStart(2, '0')}.${String(ns).padStart(9, '0')}Z`
const hiding = (secret: string) => (text: string) => text.replaceAll(secret, '******')
const texts = (lines: readonly StoredLine[]): unknown[] => lines.map((line) => line['text'])
const storedTexts = async (store: LineStore): Promise<unknown[]> => texts(await store.tail('service/one', 100_000))
const holds = (store: LineStore, count: number): Promise<true> =>
  until(`${count} lines are stored`, async () => (await storedTexts(store)).length >= count)

test('stores what the engine reports, masked, and follows each service once', async (t) => {
  const { store, source, collect } = await prepare(t)
  const collector = collect()
  source.print(at(1, 5), 'password=hunter22')
  collector.follow('one', { release: 'release-1', mask: hiding('hunter22') })
  collector.follow('one')
  await holds(store, 1)
  source.print(at(2), 'hunter22 again', { stream: 'stderr' })
  await holds(store, 2)
  assert.deepEqual(await store.tail('service/one', 9), [
    { seq: 1, at: at(1, 5), replica: 'web-1', release: 'release-1', stream: 'stdout', text: 'password=******' },
    { seq: 2, at: at(2), replica: 'web-1', release: 'release-1', stream: 'stderr', text: '****** again' },
  ])
  assert.equal(source.queries.length, 1)
  assert.deepEqual(collector.following(), ['one'])
  assert.deepEqual([collector.isFollowing('one'), collector.isFollowing('two')], [true, false])
  collector.stopFollowing('one')
  assert.deepEqual(collector.following(), [])
  await until('the engine is let go', () => source.attached === 0)
})

test('while one release follows another, the secrets of both are hidden in the output of either', async (t) => {
  const { store, source, collect } = await prepare(t)
  const collector = collect()
  collector.follow('one', { release: 'former', mask: hiding('former secret') })
  collector.follow('one', { release: 'next', mask: hiding('next secret') })
  source.print(at(1), 'former secret')
  source.print(at(2), 'former secret and next secret', { replica: 'web-2' })
  await holds(store, 2)
  collector.follow('one', { release: 'next', mask: hiding('a later one') })
  source.print(at(3), 'former secret, next secret, a later one')
  await holds(store, 3)
  assert.deepEqual(await storedTexts(store), ['******', '****** and ******', '******, next secret, ******'])
})

test('resumes after a restart without duplicates or loss, at any line and with lines of the same time', async (t) => {
  const { store, source, collect } = await prepare(t)
  const expected: string[] = []
  for (let round = 0; round < 12; round++) {
    const collector = collect()
    collector.follow('one')
    for (let index = 0; index < 7; index++) {
      // Two to three lines of each replica share one time, the replicas take turns, texts repeat.
      const text = `${round % 2 ? 'same' : round} ${index}`
      source.print(at(1 + round, Math.floor(index / 3)), text, { replica: index % 2 ? 'web-1' : 'web-2' })
      expected.push(text)
    }
    await until('lines are stored', async () => (await storedTexts(store)).length >= expected.length - (round % 5))
    await collector.close()
  }
  collect().follow('one')
  await holds(store, expected.length)
  assert.deepEqual((await storedTexts(store)).toSorted(), expected.toSorted())
  assert.ok(source.queries.slice(1).every((query) => query.after !== undefined))
})

test('attaches again with growing pauses when the engine disconnects, and loses nothing', async (t) => {
  const { store, source, clock, collect } = await prepare(t)
  collect().follow('one')
  source.print(at(1), 'a')
  await holds(store, 1)
  for (const ms of [250, 500, 1000, 2000, 4000, 8000, 15_000, 15_000]) {
    source.break()
    await until('it pauses', () => source.attached === 0 && clock.sleeps.length > 0)
    assert.deepEqual(clock.sleeps.splice(0), [ms])
    clock.pass(ms)
    await until('it is attached again', () => source.attached === 1)
  }
  source.break()
  await until('the engine is let go', () => source.attached === 0)
  source.print(at(1), 'b')
  source.print(at(2), 'c')
  await until('it pauses', () => clock.sleeps.length > 0)
  clock.pass(15_000)
  await holds(store, 3)
  assert.deepEqual(await storedTexts(store), ['a', 'b', 'c'])
})

test('ends its pause when it is notified that the service starts', async (t) => {
  const { store, source, collect } = await prepare(t)
  const collector = collect()
  collector.follow('one')
  source.print(at(1), 'a')
  await holds(store, 1)
  source.break()
  await until('the engine is let go', () => source.attached === 0)
  source.print(at(2), 'b')
  await until('it is attached again', () => {
    collector.follow('one')
    return source.attached === 1
  })
  await holds(store, 2)
})

test('marks a gap when the engine comes back without the last stored line', async (t) => {
  const { store, source, clock, collect } = await prepare(t)
  collect().follow('one')
  source.print(at(1), 'a')
  await holds(store, 1)
  source.break()
  await until('the engine is let go', () => source.attached === 0)
  source.lines.length = 0
  source.print(at(9), 'z')
  await until('it is attached again', () => {
    clock.pass(1000)
    return source.attached === 1
  })
  await holds(store, 3)
  const [, marker, line] = await store.tail('service/one', 9)
  assert.equal(marker?.['marker'], 'gap')
  assert.equal(line?.['text'], 'z')
})

test('drops a flood with a marker, which affects only that service', async (t) => {
  const { store, clock, collect } = await prepare(t)
  const quiet = new LogSource()
  let flooded = 0
  const engine: Awaited<ReturnType<CollectorOptions['sourceOf']>> = {
    logs: (service, query, signal) => (service === 'quiet' ? quiet.logs(service, query, signal) : flood(signal)),
  }
  async function* flood(signal: AbortSignal) {
    while (flooded < 200_000 && !signal.aborted) {
      const line = { at: at(1, flooded), replica: 'web-1', release: 'r', stream: 'stdout' as const }
      yield { ...line, text: `flood ${flooded++}` }
    }
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
  }
  const collector = collect({ sourceOf: async () => engine, linesPerSecond: 1000 })
  collector.follow('flooding')
  collector.follow('quiet')
  quiet.print(at(1), 'still heard')
  await until('the quiet service is heard', async () => (await store.tail('service/quiet', 9)).length === 1)
  assert.ok(flooded < 200_000, 'while the flood goes on')
  await until('the flood is over', () => flooded === 200_000)
  clock.pass(1000)
  const find = async () => (await store.tail('service/flooding', 9000)).filter((line) => line['marker'] === 'dropped')
  await until('the drop is told although nothing more came', async () => (await find()).length > 0)
  const lines = await store.tail('service/flooding', 9000)
  const dropped = lines.reduce((sum, line) => sum + (line['marker'] === 'dropped' ? Number(line['lines']) : 0), 0)
  const kept = lines.filter((line) => line['marker'] === undefined)
  assert.equal(kept.length + dropped, 200_000)
  assert.equal(kept.length, 1000)
  assert.match(
    String(lines.at(-1)?.['text']),
    /^199000 lines dropped: the service printed more than 1000 lines a second$/,
  )
})

test('waits for a slow disk instead of losing lines', async (t) => {
  const { store, source, collect } = await prepare(t)
  let open = Promise.withResolvers<void>()
  let appended = 0
  const slow: CollectorOptions['store'] = {
    tail: store.tail,
    append: (key, lines) => {
      appended++
      void store.append(key, lines)
      return open.promise
    },
  }
  collect({ store: slow }).follow('one')
  for (let index = 1; index <= 5; index++) source.print(at(index), String(index))
  for (let index = 1; index <= 5; index++) {
    await until('the next line came', () => appended === index)
    await systemClock.sleep(0)
    assert.equal(appended, index)
    const former = open
    open = Promise.withResolvers()
    former.resolve()
  }
  await holds(store, 5)
  assert.deepEqual(await storedTexts(store), ['1', '2', '3', '4', '5'])
  open.resolve()
})

test('ends although the engine does not stop when asked', async (t) => {
  const { clock, collect } = await prepare(t)
  const never = new Promise<never>(() => {})
  let attached = false
  const engine: Awaited<ReturnType<CollectorOptions['sourceOf']>> = {
    // biome-ignore lint/correctness/useYield: an engine that hangs
    logs: async function* () {
      attached = true
      await never
    },
  }
  const collector = collect({ sourceOf: async () => engine })
  collector.follow('one')
  await until('it is attached', () => attached)
  const closed = collector.close()
  clock.pass(3000)
  await closed
  assert.deepEqual(collector.following(), [])
})
