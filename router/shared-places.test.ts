import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Compressors } from './compressors.ts'
import { OwnedMap } from './owned-map.ts'
import { SharedPlaces } from './shared-places.ts'
import { Turns } from './turns.ts'

test('owners share places: the one with most gives one to a newcomer with fewer', () => {
  const places = new SharedPlaces(6)
  for (let count = 0; count < 6; count++) places.take('busy')
  assert.deepEqual(places.roomFor('busy'), { isFree: false })
  const all = ['a', 'b', 'a', 'b', 'a', 'b', 'c', 'd']
  for (const owner of all) {
    const { isFree, from } = places.roomFor(owner)
    if (!isFree) continue
    if (from !== undefined) places.release(from)
    places.take(owner)
  }
  assert.equal(places.size, 6)
  for (const owner of ['a', 'busy']) assert.equal(places.roomFor(owner).isFree, false, owner)
  assert.equal(places.roomFor('e').isFree, true, 'many owners leave room for the next one')
})

test('waiting work takes turns by each name of its path', () => {
  const turns = new Turns([100, 100, 100])
  const done: string[] = []
  const add = (...path: [string, string, string]) => turns.add(path, () => done.push(path.join('')))
  for (let count = 0; count < 3; count++) add('A', 'a', '1')
  add('A', 'a', '2')
  add('A', 'b', '1')
  add('B', 'a', '1')
  for (let work = turns.next(() => true); work; work = turns.next(() => true)) work()
  assert.deepEqual(done, ['Aa1', 'Ba1', 'Ab1', 'Aa2', 'Aa1', 'Aa1'])
})

test('waiting work is limited for each name of its path, and a refused one leaves nothing', () => {
  const turns = new Turns([4, 3, 2])
  const add = (...path: [string, string, string]) => turns.add(path, () => {})
  assert.deepEqual([add('A', 'a', '1'), add('A', 'a', '1'), add('A', 'a', '1')], [true, true, false])
  assert.deepEqual([add('A', 'a', '2'), add('A', 'a', '3')], [true, false])
  assert.deepEqual([add('A', 'b', '1'), add('A', 'c', '1'), add('B', 'a', '1')], [true, false, true])
  for (let count = 0; count < 5; count++)
    assert.ok(
      turns.next(() => true),
      `${count}`,
    )
  assert.equal(
    turns.next(() => true),
    undefined,
  )
})

test('an owner replaces its own values only', () => {
  const known = new OwnedMap<number>(2)
  known.set('quiet', 'kept', 1)
  for (let count = 0; count < 10; count++) known.set('busy', `${count}`, count)
  assert.deepEqual([known.get('quiet', 'kept'), known.get('busy', '7'), known.get('busy', '9')], [1, undefined, 9])
})

test('compressors of one organization leave some for others', () => {
  const compressors = new Compressors()
  const open: { destroy(): void }[] = []
  const fill = (organization: string): number => {
    const before = open.length
    for (let count = 0; count < 200; count++) {
      const route = { organization, service: `${organization}${count % 10}` }
      if (compressors.hasRoom(route)) open.push(compressors.open(route, 'gzip'))
    }
    return open.length - before
  }
  assert.deepEqual([fill('busy'), fill('next') > 0, fill('another') > 0], [32, true, true])
  for (const one of open) one.destroy()
})
