import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiTimeOf, clockOf, hoursOf } from './week.ts'

test('an environment runs between start and stop of its days', () => {
  const [monday, tuesday] = hoursOf(['MONDAY'], '08:00', '19:30')
  assert.deepEqual([monday, tuesday], [[{ from: 480, to: 1170 }], []])
})

test('a stop that is not after the start is on the next day, also from Sunday to Monday', () => {
  const [monday, tuesday, ...others] = hoursOf(['SUNDAY', 'MONDAY'], '22:00', '06:00')
  const night = { from: 0, to: 360 }
  assert.deepEqual([monday, tuesday], [[night, { from: 1320, to: 1440 }], [night]])
  assert.deepEqual(others.at(-1), [{ from: 1320, to: 1440 }])
  assert.deepEqual(hoursOf(['MONDAY'], '08:00', '00:00')[1], [])
})

test('times of the API are times of a clock', () => {
  assert.equal(clockOf(apiTimeOf('08:30')), '08:30')
})
