import assert from 'node:assert/strict'
import test from 'node:test'
import { openIn, shownCounts, Tallies } from './tallies.ts'

const lineOf = (key: string, requests: number): string =>
  `0x1: key=${key} use=0 http_req_cnt=${requests} gpc1=${requests}`

test('endpoints that HAProxy and the table have dropped are forgotten', () => {
  const listed = new Set<string>()
  const tallies = new Tallies((key) => listed.has(key))
  for (let round = 0; round < 100; round++) {
    const keys = Array.from({ length: 100 }, (_, index) => `10.0.${round}.${index}:80`)
    tallies.read(keys.map((key) => lineOf(key, 1)).join('\n'))
    assert.equal(tallies.take().size, 100)
    assert.equal(tallies.size, 100)
  }
})

test('the total of a listed endpoint continues after HAProxy has dropped it', () => {
  const tallies = new Tallies((key) => key === 'a:1')
  tallies.read([lineOf('a:1', 5), lineOf('b:1', 5)].join('\n'))
  tallies.take()
  assert.equal(tallies.read('').get('a:1')?.total, 5)
  const again = tallies.read([lineOf('a:1', 2), lineOf('b:1', 2)].join('\n'))
  assert.deepEqual([again.get('a:1')?.total, again.get('b:1')?.total], [7, 2])
  assert.deepEqual(
    [...tallies.take().values()].map(({ statuses }) => statuses[1]),
    [2, 2],
  )
})

/** A row of an endpoint with as many requests and responses. */
const rowOf = (count: number, bytes: number): string =>
  `${lineOf('a:1', count)} bytes_in_cnt=${bytes} bytes_out_cnt=${bytes}`

/** Reads rows in order. Returns the requests, responses and bytes that the last one added. */
function lastOf(...rows: readonly (readonly [number, number])[]): readonly (number | undefined)[] {
  const tallies = new Tallies(() => true)
  let before = 0
  for (const [count, bytes] of rows.slice(0, -1)) before = tallies.read(rowOf(count, bytes)).get('a:1')?.total ?? 0
  tallies.take()
  const total = tallies.read(rowOf(...(rows.at(-1) ?? [0, 0]))).get('a:1')?.total ?? 0
  const carried = tallies.take().get('a:1')
  return [total - before, carried?.statuses[1], carried?.bytesOut]
}

test('counts of 32 bits continue after they wrap', () => {
  const end = 2 ** 32
  assert.deepEqual(lastOf([end - 3, 9e12], [4, 9e12 + 700]), [7, 7, 700])
  assert.deepEqual(lastOf([end - 1, 9e12], [0, 9e12 + 100]), [1, 1, 100])
})

test('an entry that HAProxy has dropped is counted from zero, however large it was', () => {
  assert.deepEqual(lastOf([2 ** 32 - 3, 9e12], [4, 700]), [4, 4, 700])
  assert.deepEqual(lastOf([5, 500], [4, 700]), [4, 4, 700])
  assert.deepEqual(lastOf([5, 500], [5, 400]), [5, 5, 400])
})

test('another HAProxy is counted from zero, also just before the end of the range', () => {
  const tallies = new Tallies(() => true)
  tallies.read(rowOf(2 ** 32 - 3, 100))
  tallies.take()
  tallies.restart()
  assert.equal(tallies.read(rowOf(4, 700)).get('a:1')?.total, 2 ** 32 + 1)
  assert.deepEqual(tallies.take().get('a:1')?.statuses[1], 4)
})

test('counts that nobody has taken are kept if HAProxy ends, and counted once if it does not', () => {
  const tallies = new Tallies(() => true)
  tallies.read(rowOf(5, 500))
  assert.deepEqual(tallies.read(undefined).get('a:1'), { open: 0, total: 5 })
  tallies.read(rowOf(6, 600))
  tallies.restart()
  assert.equal(tallies.read(rowOf(1, 100)).get('a:1')?.total, 7)
  assert.deepEqual(tallies.take().get('a:1')?.statuses[1], 7)
})

test('a drain asks for the counts of its own endpoints, in lines that fit the buffer of HAProxy', () => {
  assert.deepEqual(shownCounts(['a:1', 'b:2']), ['show table endpoints key a:1; show table endpoints key b:2'])
  const many = shownCounts(Array.from({ length: 250 }, () => '255.255.255.255:65535'))
  assert.equal(many.length, 3)
  assert.ok(many.every(({ length }) => length < 12_000))
  assert.equal(openIn('# table: endpoints\n0x1: key=a:1 use=2 conn_cur=2 gpc0=1\n0x2: key=b:2 conn_cur=3\n'), 5)
})
