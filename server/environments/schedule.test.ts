import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weekdays } from '@quayside/contract/resources/deployment-rule.ts'
import { isWithin, readTimeOfDay, type Schedule, timeOfDay } from './schedule.ts'

const schedule = (change: Partial<Schedule>): Schedule => ({
  timezone: 'UTC',
  start_time: '08:00:00',
  stop_time: '19:00:00',
  weekdays,
  ...change,
})
const at = (change: Partial<Schedule>, ...instants: string[]): boolean[] =>
  instants.map((instant) => isWithin(schedule(change), new Date(instant)))

test('it runs from the start until before the stop', () => {
  const day = ['T07:59:59', 'T08:00:00', 'T18:59:59', 'T19:00:00'].map((time) => `2026-06-10${time}Z`)
  assert.deepEqual(at({}, ...day), [false, true, true, false])
})

test('a schedule includes the listed days in the local time of its zone', () => {
  // 2026-06-12 is a Friday; in Auckland it is already Saturday.
  const friday = { weekdays: ['FRIDAY'] as const }
  assert.deepEqual(at(friday, '2026-06-12T12:00:00Z', '2026-06-13T12:00:00Z'), [true, false])
  assert.deepEqual(at({ ...friday, timezone: 'Pacific/Auckland' }, '2026-06-12T22:00:00Z', '2026-06-11T22:00:00Z'), [
    false,
    true,
  ])
  assert.deepEqual(at({ weekdays: [] }, '2026-06-12T12:00:00Z'), [false])
})

test('a schedule stops on the next day when the stop is not after the start', () => {
  const night = { start_time: '20:00:00', stop_time: '06:00:00', weekdays: ['FRIDAY'] as const }
  const instants = ['2026-06-12T05:00:00Z', '2026-06-12T20:00:00Z', '2026-06-13T05:59:59Z', '2026-06-13T06:00:00Z']
  assert.deepEqual(at(night, ...instants), [false, true, true, false])
  const whole = { start_time: '00:00:00', stop_time: '00:00:00', weekdays: ['FRIDAY'] as const }
  assert.deepEqual(at(whole, '2026-06-11T23:59:59Z', '2026-06-12T00:00:00Z', '2026-06-13T00:00:00Z'), [
    false,
    true,
    false,
  ])
})

const paris = { timezone: 'Europe/Paris' }

test('a schedule follows local time in winter and in summer', () => {
  assert.deepEqual(at(paris, '2026-01-15T06:59:59Z', '2026-01-15T07:00:00Z'), [false, true])
  assert.deepEqual(at(paris, '2026-07-15T05:59:59Z', '2026-07-15T06:00:00Z'), [false, true])
})

test('a start moves with the clock when spring skips it', () => {
  // On 2026-03-29 the clocks of Paris go from 02:00 to 03:00, at 01:00 UTC.
  const rule = { ...paris, start_time: '02:30:00', stop_time: '05:00:00' }
  const instants = ['2026-03-29T00:59:59Z', '2026-03-29T01:29:59Z', '2026-03-29T01:30:00Z', '2026-03-29T03:00:00Z']
  assert.deepEqual(at(rule, ...instants), [false, false, true, false])
})

test('a stop counts once when its local time occurs twice in autumn', () => {
  // On 2026-10-25 the clocks of Paris go from 03:00 back to 02:00, at 01:00 UTC.
  const rule = { ...paris, start_time: '01:00:00', stop_time: '02:30:00' }
  const instants = ['2026-10-24T23:00:00Z', '2026-10-25T00:29:59Z', '2026-10-25T00:30:00Z', '2026-10-25T01:15:00Z']
  assert.deepEqual(at(rule, ...instants), [true, true, false, false])
})

test('a start counts the first time when its local time occurs twice', () => {
  const rule = { ...paris, start_time: '02:30:00', stop_time: '04:00:00' }
  const instants = [
    '2026-10-25T00:29:59Z',
    '2026-10-25T00:30:00Z',
    '2026-10-25T01:00:00Z',
    '2026-10-25T02:59:59Z',
    '2026-10-25T03:00:00Z',
  ]
  assert.deepEqual(at(rule, ...instants), [false, true, true, true, false])
})

test('a night with a clock change begins and ends in local time', () => {
  const night = { ...paris, start_time: '22:00:00', stop_time: '06:00:00', weekdays: ['SATURDAY'] as const }
  assert.deepEqual(at(night, '2026-10-24T20:00:00Z', '2026-10-25T04:59:59Z', '2026-10-25T05:00:00Z'), [
    true,
    true,
    false,
  ])
  assert.deepEqual(at(night, '2026-03-28T21:00:00Z', '2026-03-29T03:59:59Z', '2026-03-29T04:00:00Z'), [
    true,
    true,
    false,
  ])
})

test('a schedule uses the hours of the next day when a day does not exist', () => {
  // Samoa skipped Friday, 30 December 2011, at 10:00 UTC.
  const rule = { timezone: 'Pacific/Apia', weekdays: ['FRIDAY'] as const }
  const instants = ['2011-12-30T17:59:59Z', '2011-12-30T18:00:00Z', '2011-12-31T04:59:59Z', '2011-12-31T05:00:00Z']
  assert.deepEqual(at(rule, ...instants), [false, true, true, false])
})

test('a day begins at one where clocks skip midnight', () => {
  // São Paulo, Sunday, 4 November 2018, at 03:00 UTC.
  const rule = { timezone: 'America/Sao_Paulo', start_time: '00:00:00', stop_time: '00:00:00' }
  const sunday = { ...rule, weekdays: ['SUNDAY'] as const }
  const instants = ['2018-11-04T02:59:59Z', '2018-11-04T03:00:00Z', '2018-11-05T01:59:59Z', '2018-11-05T02:00:00Z']
  assert.deepEqual(at(sunday, ...instants), [false, true, true, false])
})

test('times of day are read in UTC and returned on the first day of 1970', () => {
  assert.equal(readTimeOfDay('2024-05-05T10:30:00.999+02:00'), '08:30:00')
  assert.equal(timeOfDay('08:30:00').toISOString(), '1970-01-01T08:30:00.000Z')
})
