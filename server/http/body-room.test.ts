import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { BodyRoom, roomFor, smallBody } from './body-room.ts'

const full = { code: 'unavailable', message: /Try again/ }

test('a sender holds at most half of the room, and another sender half of the rest', () => {
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

test('what is left twice is given back once', () => {
  const room = new BodyRoom(4 * smallBody)
  const place = room.enter('a')
  place.hold(2 * smallBody)
  place.leave()
  place.leave()
  assert.throws(() => room.enter('a').hold(2 * smallBody + 1), full)
})

test('what comes after it was left takes nothing', () => {
  const room = new BodyRoom(4 * smallBody)
  const place = room.enter('a')
  place.leave()
  place.hold(2 * smallBody)
  room.enter('a').hold(2 * smallBody)
})

test('small bodies are let in where there is no room at all', () => {
  const place = new BodyRoom(0).enter('a')
  place.hold(smallBody)
  assert.throws(() => place.hold(smallBody + 1), full)
})

test('a room is a part of the memory that there is, within its bounds', () => {
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
