import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { BodyRoom, roomFor, smallBody } from './body-room.ts'

const full = { code: 'unavailable', message: /Try again/ }

test('a room gives one sender at most half of its bytes, and the next sender half of the rest', () => {
  const room = new BodyRoom(8 * smallBody)
  const [first, second, other] = [room.enter('a'), room.enter('a'), room.enter('b')]
  first.hold(2 * smallBody)
  second.hold(2 * smallBody)
  assert.throws(() => second.hold(2 * smallBody + 1), full)
  assert.throws(() => room.enter('a').hold(smallBody + 1), full)
  other.hold(2 * smallBody)
  assert.throws(() => other.hold(2 * smallBody + 1), full)
  first.leave()
  other.hold(3 * smallBody)
})

test('a place returns its bytes once when it is left twice', () => {
  const room = new BodyRoom(4 * smallBody)
  const place = room.enter('a')
  place.hold(2 * smallBody)
  place.leave()
  place.leave()
  assert.throws(() => room.enter('a').hold(2 * smallBody + 1), full)
})

test('a place takes no bytes after it was left', () => {
  const room = new BodyRoom(4 * smallBody)
  const place = room.enter('a')
  place.leave()
  place.hold(2 * smallBody)
  room.enter('a').hold(2 * smallBody)
})

test('a room accepts small bodies when it is full', () => {
  const place = new BodyRoom(0).enter('a')
  place.hold(smallBody)
  assert.throws(() => place.hold(smallBody + 1), full)
})

test('a room is a share of the available memory, within its bounds', () => {
  const sizeOf = (bounds: { least: number; most: number }): boolean => {
    try {
      roomFor(bounds)
        .enter('a')
        .hold(bounds.most / 2)
      return true
    } catch {
      return false
    }
  }
  assert.ok(sizeOf({ least: 20 * smallBody, most: 20 * smallBody }))
  assert.ok(!sizeOf({ least: 20 * smallBody, most: totalmem() }))
})
