import assert from 'node:assert/strict'
import { test } from 'node:test'
import { weekdays } from '@quayside/contract/resources/deployment-rule.ts'
import { sideOf } from './schedule.ts'
import { type LastTurn, type TimedRule, type Turn, turnAt } from './turn.ts'

const rule = (change: Partial<TimedRule> = {}): TimedRule => ({
  timezone: 'UTC',
  start_time: '08:00:00',
  stop_time: '19:00:00',
  weekdays,
  version: 1,
  updated_at: new Date('2026-06-01T12:00:00Z'),
  ...change,
})
const at = (text: string) => new Date(text)
/** Returns what a rule does at these instants, in order: `stop 19:00` for a stop at 19:00. */
function follow(followed: TimedRule, instants: readonly string[], last?: LastTurn): string[] {
  let known: LastTurn | undefined = last
  return instants.flatMap((instant) => {
    const turn: Turn = turnAt(followed, known, at(instant))
    known = turn
    const time = turn.edge.toISOString().slice(0, 16)
    return turn.isDue ? [`${turn.is_within ? 'start' : 'stop'} ${time}`] : []
  })
}
const hours = (from: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => new Date(at(from).getTime() + index * 1_800_000).toISOString())

test('a rule acts on each edge of a day once, at its time', () => {
  assert.deepEqual(follow(rule(), hours('2026-06-10T07:00:00Z', 48)), [
    // Followed for the first time outside its hours.
    'stop 2026-06-09T19:00',
    'start 2026-06-10T08:00',
    'stop 2026-06-10T19:00',
  ])
})

test('a rule starts nothing on days that are not listed', () => {
  const working = rule({ weekdays: ['FRIDAY', 'MONDAY'] })
  // 2026-06-12 is a Friday.
  assert.deepEqual(follow(working, hours('2026-06-12T12:00:00Z', 48 * 4)), [
    'start 2026-06-12T08:00',
    'stop 2026-06-12T19:00',
    'start 2026-06-15T08:00',
    'stop 2026-06-15T19:00',
  ])
})

test('a rule acts on the last edge only when the server was away', () => {
  const turns = follow(rule(), ['2026-06-10T12:00:00Z', '2026-06-13T12:00:00Z', '2026-06-15T21:00:00Z'])
  assert.deepEqual(turns, ['start 2026-06-10T08:00', 'start 2026-06-13T08:00', 'stop 2026-06-15T19:00'])
})

test('a rule repeats nothing when the clock jumps an hour either way', () => {
  const forth = ['2026-06-10T18:30:00Z', '2026-06-10T19:30:00Z', '2026-06-10T18:31:00Z', '2026-06-10T19:01:00Z']
  assert.deepEqual(follow(rule(), forth), ['start 2026-06-10T08:00', 'stop 2026-06-10T19:00'])
  const back = ['2026-06-10T18:59:00Z', '2026-06-10T19:01:00Z', '2026-06-10T18:02:00Z', '2026-06-10T19:02:00Z']
  assert.deepEqual(follow(rule(), back), ['start 2026-06-10T08:00', 'stop 2026-06-10T19:00'])
})

test('a rule still acts when the clock was wrong by years', () => {
  const wrong: LastTurn = { rule_version: 1, edge: at('2036-06-10T19:00:00Z'), is_within: false }
  assert.deepEqual(follow(rule(), ['2026-06-10T12:00:00Z', '2026-06-10T19:00:00Z'], wrong), [
    'start 2026-06-10T08:00',
    'stop 2026-06-10T19:00',
  ])
})

test('a night with a clock change has one start and one stop', () => {
  const night = rule({ timezone: 'Europe/Paris', start_time: '02:30:00', stop_time: '04:00:00' })
  // Forward on 2026-03-29 at 01:00 UTC: 02:30 is skipped. Back on 2026-10-25 at 01:00 UTC: 02:30
  // occurs twice.
  assert.deepEqual(follow(night, hours('2026-03-28T23:00:00Z', 12)).slice(1), [
    'start 2026-03-29T01:30',
    'stop 2026-03-29T02:00',
  ])
  assert.deepEqual(follow(night, hours('2026-10-24T23:00:00Z', 12)).slice(1), [
    'start 2026-10-25T00:30',
    'stop 2026-10-25T03:00',
  ])
})

test('a rule that is changed acts where its side changes, and not where it does not', () => {
  const inside: LastTurn = { rule_version: 1, edge: at('2026-06-10T08:00:00Z'), is_within: true }
  const edited = { version: 2, updated_at: at('2026-06-10T18:00:00Z') }
  const now = '2026-06-10T18:00:01Z'
  assert.deepEqual(follow(rule({ ...edited, stop_time: '20:00:00' }), [now], inside), [])
  assert.deepEqual(follow(rule({ ...edited, stop_time: '17:00:00' }), [now], inside), ['stop 2026-06-10T18:00'])
  const never = rule({ ...edited, weekdays: [] })
  assert.deepEqual(follow(never, [now, '2026-06-11T18:00:00Z'], inside), ['stop 2026-06-10T18:00'])
})

test('adjacent periods are merged: whole days have no edges, a week without Sunday has two', () => {
  const whole = rule({ start_time: '00:00:00', stop_time: '00:00:00' })
  assert.deepEqual(sideOf(whole, at('2026-06-10T12:00:00Z')), { isWithin: true, since: undefined, until: undefined })
  const week = { ...whole, weekdays: weekdays.filter((day) => day !== 'SUNDAY') }
  assert.deepEqual(sideOf(week, at('2026-06-10T12:00:00Z')), {
    isWithin: true,
    since: at('2026-06-08T00:00:00Z'),
    until: at('2026-06-14T00:00:00Z'),
  })
})
