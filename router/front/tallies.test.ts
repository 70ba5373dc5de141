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
    tallies.since(tallies.read(keys.map((key) => lineOf(key, 1)).join('\n')))
    assert.equal(tallies.size, 100)
  }
})

test('the total of a listed endpoint continues after HAProxy has dropped it', () => {
  const tallies = new Tallies((key) => key === 'a:1')
  tallies.since(tallies.read([lineOf('a:1', 5), lineOf('b:1', 5)].join('\n')))
  assert.equal(tallies.read('').get('a:1')?.total, 5)
  const again = tallies.read([lineOf('a:1', 2), lineOf('b:1', 2)].join('\n'))
  assert.deepEqual([again.get('a:1')?.total, again.get('b:1')?.total], [7, 2])
  assert.deepEqual(
    [...tallies.since(again).values()].map(({ statuses }) => statuses[1]),
    [2, 2],
  )
})

test('a drain asks for the counts of its own endpoints, in lines that fit the buffer of HAProxy', () => {
  assert.deepEqual(shownCounts(['a:1', 'b:2']), ['show table endpoints key a:1; show table endpoints key b:2'])
  const many = shownCounts(Array.from({ length: 250 }, () => '255.255.255.255:65535'))
  assert.equal(many.length, 3)
  assert.ok(many.every(({ length }) => length < 12_000))
  assert.equal(openIn('# table: endpoints\n0x1: key=a:1 use=2 conn_cur=2 gpc0=1\n0x2: key=b:2 conn_cur=3\n'), 5)
})
