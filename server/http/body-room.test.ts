import assert from 'node:assert/strict'
import { totalmem } from 'node:os'
import { test } from 'node:test'
import { BodyRoom, roomFor, smallBody } from './body-room.ts'

const full = { code: 'unavailable', message: /Try again/ }

test('so many bytes are held at a time, whoever holds them', () => {
  const room = new BodyRoom(5 * smallBody)
  const [first, second] = [room.enter(), room.enter()]
  first.hold(2 * smallBody)
  first.hold(3 * smallBody)
  second.hold(2 * smallBody)
  assert.throws(() => second.hold(2 * smallBody + 1), full)
  assert.throws(() => room.enter().hold(smallBody + 1), full)
  first.leave()
  second.hold(5 * smallBody)
})

test('what is left twice is given back once', () => {
  const room = new BodyRoom(2 * smallBody)
  const place = room.enter()
  place.hold(2 * smallBody)
  place.leave()
  place.leave()
  assert.throws(() => room.enter().hold(2 * smallBody + 1), full)
})

test('what comes after it was left takes nothing', () => {
  const room = new BodyRoom(2 * smallBody)
  const place = room.enter()
  place.leave()
  place.hold(2 * smallBody)
  room.enter().hold(2 * smallBody)
})

test('small bodies are let in where there is no room at all', () => {
  const place = new BodyRoom(0).enter()
  place.hold(smallBody)
  assert.throws(() => place.hold(smallBody + 1), full)
})

test('a room is a part of the memory that there is, within its bounds', () => {
  const sizeOf = (bounds: { least: number; most: number }): boolean => {
    try {
      roomFor(bounds).enter().hold(bounds.most)
      return true
    } catch {
      return false
    }
  }
  assert.ok(sizeOf({ least: 20 * smallBody, most: 20 * smallBody }))
  assert.ok(!sizeOf({ least: 20 * smallBody, most: totalmem() }))
})
