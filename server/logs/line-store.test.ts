import assert from 'node:assert/strict'
import { appendFile, cp, readdir, readFile, readlink, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { silentLogger } from '../lib/log.ts'
import type { NewLine, StoredLine, StreamKey } from './line.ts'
import { openStore, temporaryDirectory } from './test-support.ts'

const stream: StreamKey = 'service/one'
const numbered = (from: number, to: number): NewLine[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ at: 'x', text: `line ${from + index}` }))
const seqs = (lines: readonly StoredLine[]): number[] => lines.map((line) => line.seq)
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test('returns the last lines, oldest first, across segments and chunks', async (t) => {
  for (const segmentBytes of [20_000, 4_000_000]) {
    const store = openStore(t, await temporaryDirectory(t), { segmentBytes, maxBytesPerStream: { service: 1e9 } })
    const filling = (seq: number): string => 'x'.repeat((seq * 37) % 500)
    for (let first = 1; first <= 5000; first += 100) {
      await store.append(
        stream,
        numbered(first, first + 99).map((line, index) => ({ ...line, filling: filling(first + index) })),
      )
    }
    for (const count of [0, 1, 2, 399, 2000, 5000, 9000]) {
      const lines = await store.tail(stream, count)
      assert.deepEqual(seqs(lines), range(Math.max(1, 5001 - count), 5000))
      assert.ok(lines.every((line) => line['text'] === `line ${line.seq}`))
    }
    const page = await store.read(stream, { afterSeq: 0, limit: 9000 })
    assert.deepEqual(seqs(page), range(1, 5000))
    assert.ok(page.every((line) => line['text'] === `line ${line.seq}`))
  }
})

test('returns the last lines that match a filter, however far back', async (t) => {
  const store = openStore(t, await temporaryDirectory(t), { segmentBytes: 20_000, maxBytesPerStream: { service: 1e9 } })
  for (let first = 1; first <= 5000; first += 100) await store.append(stream, numbered(first, first + 99))
  assert.deepEqual(seqs(await store.tail(stream, 3, (line) => line.seq < 20)), [17, 18, 19])
  const some = await store.tail(stream, 3, (line) => String(line['text']).endsWith('00'))
  assert.deepEqual(seqs(some), [4800, 4900, 5000])
  assert.deepEqual(some[0], { seq: 4800, at: 'x', text: 'line 4800' })
  assert.deepEqual(await store.tail('service/nothing', 10), [])
})

test('reads pages after a number', async (t) => {
  const store = openStore(t, await temporaryDirectory(t), { segmentBytes: 20_000, maxBytesPerStream: { service: 1e9 } })
  for (let first = 1; first <= 2000; first += 100) void store.append(stream, numbered(first, first + 99))
  for (const afterSeq of [0, 1, 399, 400, 401, 1899, 1999, 2000, 3000]) {
    const page = await store.read(stream, { afterSeq, limit: 150 })
    assert.deepEqual(seqs(page), range(afterSeq + 1, 2000).slice(0, 150))
  }
})

test('continues after the last complete line, wherever a crash cut the last one', async (t) => {
  const original = await temporaryDirectory(t)
  const first = openStore(t, original)
  void first.append(stream, numbered(1, 3))
  await first.close()
  const name = 'service/one/0000000000000001.log'
  const whole = (await stat(join(original, name))).size
  const lastLine = (await readFile(join(original, name), 'utf8')).split('\n').at(-2) ?? ''
  for (let missing = 1; missing <= lastLine.length + 1; missing++) {
    const directory = await temporaryDirectory(t)
    await cp(original, directory, { recursive: true })
    await truncate(join(directory, name), whole - missing)
    const store = openStore(t, directory)
    assert.deepEqual(seqs(await store.tail(stream, 10)), [1, 2])
    void store.append(stream, [{ at: 'x', text: 'new' }])
    const lines = await store.tail(stream, 10)
    assert.deepEqual(
      lines.map((line) => [line.seq, line['text']]),
      [
        [1, 'line 1'],
        [2, 'line 2'],
        [3, 'new'],
      ],
    )
    await store.close()
  }
})

test('cuts off zeros and garbage that a power failure left after the last complete line', async (t) => {
  for (const rubbish of [
    Buffer.alloc(600_000),
    Buffer.from('\n\n'),
    Buffer.from('00000000 9 {"at":"x"}\n'),
    Buffer.alloc(9, '\n\0'),
  ]) {
    const directory = await temporaryDirectory(t)
    const first = openStore(t, directory)
    void first.append(stream, numbered(1, 3))
    await first.close()
    await appendFile(join(directory, 'service/one/0000000000000001.log'), rubbish)
    const store = openStore(t, directory)
    void store.append(stream, numbered(4, 5))
    assert.deepEqual(seqs(await store.tail(stream, 10)), [1, 2, 3, 4, 5])
    assert.deepEqual(seqs(await store.read(stream, { afterSeq: 0, limit: 10 })), [1, 2, 3, 4, 5])
    const content = await readFile(join(directory, 'service/one/0000000000000001.log'), 'utf8')
    assert.match(content, /^(?:[0-9a-f]{8} [1-5] \{.*\}\n){5}$/, 'the rubbish is gone from the file too')
  }
})

test('never reuses a number when the newest segment was left empty', async (t) => {
  const directory = await temporaryDirectory(t)
  const first = openStore(t, directory)
  void first.append(stream, numbered(1, 3))
  await first.close()
  await writeFile(join(directory, 'service/one/0000000000000004.log'), '')
  const store = openStore(t, directory)
  void store.append(stream, numbered(4, 4))
  assert.deepEqual(seqs(await store.tail(stream, 10)), [1, 2, 3, 4])
})

test('puts a marker where lines on the disk are damaged', async (t) => {
  const directory = await temporaryDirectory(t)
  const first = openStore(t, directory)
  void first.append(stream, numbered(1, 9))
  await first.close()
  const file = join(directory, 'service/one/0000000000000001.log')
  await writeFile(file, (await readFile(file, 'utf8')).replace('line 4', 'xxxx 4').replace('line 5', 'xxxx 5'))
  const store = openStore(t, directory)
  const expected = [1, 2, 3, 5, 6, 7, 8, 9]
  const lines = await store.tail(stream, 20)
  assert.deepEqual(seqs(lines), expected)
  assert.deepEqual(lines[3], { seq: 5, at: 'x', marker: 'gap', lines: 2, text: '2 lines are not kept any more' })
  assert.deepEqual(seqs(await store.read(stream, { afterSeq: 0, limit: 20 })), expected)
})

test('deletes the oldest lines beyond the limit and reports to readers how many are missing', async (t) => {
  const directory = await temporaryDirectory(t)
  const maxBytes = 40_000
  const store = openStore(t, directory, { segmentBytes: 8_000, maxBytesPerStream: { service: maxBytes } })
  for (let first = 1; first <= 5000; first += 50) {
    await store.append(stream, numbered(first, first + 49))
    await store.flush()
  }
  const files = await readdir(join(directory, 'service/one'))
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(directory, 'service/one', name))).size))
  const kept = sizes.reduce((a, b) => a + b)
  assert.ok(kept <= maxBytes && kept > maxBytes / 2, `${kept} bytes kept`)

  const [marker, ...page] = await store.read(stream, { afterSeq: 10, limit: 100 })
  const oldest = Number(files.toSorted()[0]?.slice(0, 16))
  assert.equal(marker?.['marker'], 'gap')
  assert.equal(marker?.seq, oldest - 1)
  assert.equal(marker?.['lines'], oldest - 11)
  assert.deepEqual(seqs(page), range(oldest, oldest + 98))
  const all = await store.tail(stream, 10_000)
  assert.deepEqual(seqs(all), range(oldest - 1, 5000))
  assert.equal(all[0]?.['marker'], 'gap')
})

test('wakes followers promptly and in order', async (t) => {
  const store = openStore(t, await temporaryDirectory(t), { segmentBytes: 4_000 })
  void store.append(stream, numbered(1, 10))
  const stop = new AbortController()
  const seen: number[] = []
  const done = (async () => {
    for await (const line of store.follow(stream, 4, stop.signal)) seen.push(line.seq)
  })()
  await until('the stored lines arrived', () => seen.length === 6)
  const delays: number[] = []
  for (let seq = 11; seq <= 300; seq++) {
    const start = performance.now()
    void store.append(stream, numbered(seq, seq))
    await until(`line ${seq} arrived`, () => seen.at(-1) === seq)
    delays.push(performance.now() - start)
  }
  stop.abort()
  await done
  assert.deepEqual(seen, range(5, 300))
  assert.ok((delays.toSorted((a, b) => a - b)[145] ?? 1e9) < 100, 'half of the lines arrived within 100 ms')
})

test('a slow follower sees every line, or a marker where they are gone', async (t) => {
  const options = { segmentBytes: 4_000, maxBytesPerStream: { service: 16_000 } }
  const store = openStore(t, await temporaryDirectory(t), options)
  void store.append(stream, numbered(1, 10))
  const follower = store.follow(stream, 0, new AbortController().signal)
  assert.equal((await follower.next()).value?.seq, 1)
  for (let first = 11; first <= 2000; first += 10) {
    void store.append(stream, numbered(first, first + 9))
    if (first % 50 === 1) await store.flush()
  }
  await store.flush()
  let expected = 2
  let gaps = 0
  while (expected <= 2000) {
    const { value } = await follower.next()
    assert.ok(value)
    if (value['marker'] === 'gap') gaps++
    if (value['marker'] === 'gap') assert.equal(value.seq, expected + Number(value['lines']) - 1)
    else assert.equal(value.seq, expected)
    expected = value.seq + 1
  }
  assert.equal(expected, 2001)
  assert.ok(gaps > 0)
  await follower.return(undefined)
})

test('ends following when the stream is removed, and starts again after that', async (t) => {
  const directory = await temporaryDirectory(t)
  const store = openStore(t, directory)
  void store.append(stream, numbered(1, 3))
  const follower = store.follow(stream, 3, new AbortController().signal)
  const next = follower.next()
  await store.flush()
  await store.remove(stream)
  assert.equal((await next).done, true)
  assert.deepEqual(await readdir(join(directory, 'service')), [])
  void store.append(stream, numbered(1, 1))
  assert.deepEqual(seqs(await store.tail(stream, 5)), [1])
})

test('drops and counts lines of a producer that does not wait, and loses none of one that waits', async (t) => {
  const store = openStore(t, await temporaryDirectory(t))
  const text = 'x'.repeat(1000)
  let asked = 0
  for (let seq = 1; seq <= 20_000; seq++) if (store.append('service/rude', [{ at: 'x', text }])) asked++
  assert.ok(asked > 0)
  const rude = await store.tail('service/rude', 30_000)
  const marker = rude.at(-1)
  assert.equal(marker?.['marker'], 'dropped')
  assert.equal(Number(marker?.['lines']) + rude.length - 1, 20_000)
  for (let seq = 1; seq <= 20_000; seq++) {
    const wait = store.append('service/polite', [{ at: 'x', text }])
    if (wait) await wait
  }
  assert.deepEqual(seqs(await store.tail('service/polite', 30_000)), range(1, 20_000))
})

/** Counts the files below the directory that this process has open. */
async function openFiles(directory: string): Promise<number> {
  const fds = await readdir('/proc/self/fd')
  const paths = await Promise.all(fds.map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')))
  return paths.filter((path) => path.startsWith(directory)).length
}

test('opens few file descriptors for many busy streams', async (t) => {
  const directory = await temporaryDirectory(t)
  const store = openStore(t, directory, { maxOpenFiles: 16, syncEveryMs: 60_000 })
  for (let round = 1; round <= 3; round++) {
    for (let index = 0; index < 200; index++) void store.append(`service/s${index}`, numbered(round, round))
    await store.flush()
    await until('at most 16 files are open', async () => (await openFiles(directory)) <= 16)
  }
  for (let index = 0; index < 200; index++) {
    assert.deepEqual(seqs(await store.tail(`service/s${index}`, 9)), [1, 2, 3])
  }
})

test('opens no file descriptor for idle streams', async (t) => {
  const directory = await temporaryDirectory(t)
  const store = openStore(t, directory)
  for (let round = 1; round <= 2; round++) {
    for (let index = 0; index < 20; index++) void store.append(`service/s${index}`, numbered(round, round))
    await store.flush()
    await until('no file is open', async () => (await openFiles(directory)) === 0)
  }
  assert.deepEqual(seqs(await store.tail('service/s0', 9)), [1, 2])
})

test('reports errors of the disk, and stores everything once it works again', async (t) => {
  const directory = await temporaryDirectory(t)
  const inTheWay = join(directory, 'service')
  await writeFile(inTheWay, '')
  let retry = Promise.withResolvers<void>()
  const clock = { now: () => new Date(), monotonic: () => 0, sleep: () => retry.promise }
  const store = openStore(t, directory, { clock, log: silentLogger })
  void store.append(stream, numbered(1, 3))
  await assert.rejects(store.flush(), /log lines could not be written below/)
  await rm(inTheWay)
  retry.resolve()
  retry = Promise.withResolvers()
  await store.flush()
  assert.deepEqual(seqs(await store.tail(stream, 9)), [1, 2, 3])
  retry.resolve()
})

test('rejects names outside its directory', async (t) => {
  const store = openStore(t, await temporaryDirectory(t))
  for (const key of ['service/../x', 'service/', 'service/a/b', 'service/.'] as const) {
    assert.throws(() => store.append(key, []), /is not the name of a log stream/)
  }
})
