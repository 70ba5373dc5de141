import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alternating, nextOf } from './due-turns.ts'

const ownerOf = ({ owner }: { readonly owner: string | null }) => owner
const namesOf = (owners: string) => [...owners].map((owner, index) => ({ owner, name: `${owner}${index}` }))

test('owners take turns, each with its own names in their order', () => {
  const turns = alternating(namesOf('aaabac'), ownerOf).map(({ name }) => name)
  assert.deepEqual(turns, ['a0', 'b3', 'c5', 'a1', 'a2', 'a4'])
})

test('no owner holds every place, and a reserve is kept for owners without one', () => {
  const limits = { all: 4, ofOne: 3, reserve: 2 }
  const next = (waiting: string, running: string) => nextOf(namesOf(waiting), running, { limits, ownerOf })?.name
  assert.equal(next('aab', ''), 'a0')
  assert.equal(next('aab', 'aaa'), 'b2')
  assert.equal(next('aa', 'aaa'), undefined)
  assert.equal(next('ab', 'aab'), 'a0')
  assert.equal(next('abc', 'aabb'), 'c2')
  assert.equal(next('ab', 'aaabc'), undefined)
  assert.equal(next('d', 'aaabc'), 'd0')
  assert.equal(next('e', 'aaabcd'), undefined)
})
