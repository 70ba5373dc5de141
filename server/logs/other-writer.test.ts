import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import type { StoredLine } from './line.ts'
import { openStore, temporaryDirectory } from './test-support.ts'

const stream = 'deployment/one'
const line = (text: string) => ({ at: 'x', text })

test('a store that does not write reads and follows what another one writes', async (t) => {
  const directory = await temporaryDirectory(t)
  const writer = openStore(t, directory, { segmentBytes: 2_000 })
  const reader = openStore(t, directory, { mayWrite: () => false })
  assert.deepEqual(await reader.tail(stream, 10), [])
  const found: StoredLine[] = []
  const ending = new AbortController()
  const following = (async () => {
    for await (const one of reader.follow(stream, 0, ending.signal)) found.push(one)
  })()
  for (let number = 1; number <= 200; number++) await writer.append(stream, [line(`line ${number}`)])
  await writer.flush()
  assert.equal((await reader.tail(stream, 1))[0]?.text, 'line 200')
  assert.equal((await reader.read(stream, { afterSeq: 150, limit: 10 }))[0]?.seq, 151)
  await until('all lines arrive', () => found.length === 200)
  void writer.append(stream, [line('one more')])
  await until('the new line arrives', () => found.at(-1)?.text === 'one more')
  assert.equal(reader.append(stream, [line('never')]), undefined)
  ending.abort()
  await following
  assert.deepEqual(
    found.map(({ seq }) => seq),
    Array.from({ length: 201 }, (_, index) => index + 1),
  )
})

test('a store continues after the lines of the previous writer, and that one writes no more', async (t) => {
  const directory = await temporaryDirectory(t)
  let writer = 'a'
  const [a, b] = ['a', 'b'].map((name) => openStore(t, directory, { mayWrite: () => writer === name }))
  assert.ok(a && b)
  await b.tail(stream, 1)
  for (const text of ['one', 'two']) await a.append(stream, [line(text)])
  await a.flush()
  writer = 'b'
  void a.append(stream, [line('late')])
  await a.renew()
  await b.renew()
  void b.append(stream, [line('three')])
  await b.flush()
  writer = 'a'
  await b.renew()
  await a.renew()
  void a.append(stream, [line('four')])
  await a.flush()
  assert.deepEqual(
    (await b.tail(stream, 10)).map(({ seq, text }) => `${seq} ${text}`),
    ['1 one', '2 two', '3 three', '4 four'],
  )
})
