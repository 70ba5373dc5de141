import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkTimeZone, type InGap, momentOf, nextChangeOf, wallTimeAt } from './time-zone.ts'

/** `2026-03-29T02:30` as a wall time. */
const wall = (text: string): number => Date.parse(`${text}Z`)
const shown = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16)
const moment = (zone: string, text: string, inGap: InGap): string | undefined =>
  shown(momentOf(zone, wall(text), inGap))

test('checkTimeZone returns the name when the runtime knows it', () => {
  for (const zone of ['UTC', 'Etc/UTC', 'Europe/Paris', 'europe/paris', 'EST5EDT', '+05:30', 'JST'])
    assert.equal(checkTimeZone('timezone', zone), zone)
})

test('checkTimeZone rejects an unknown time zone', () => {
  const message = 'timezone must be a time zone, for example Europe/Paris.'
  for (const zone of ['', 'Mars/Olympus', '2026-01-01T00:00Z[Europe/Paris]', 'Europe/Paris '])
    assert.throws(() => checkTimeZone('timezone', zone), { code: 'invalid', message }, zone)
})

test('an abbreviation that Intl accepts follows the clocks of its zone', () => {
  const noon = Date.parse('2026-06-01T12:00:00Z')
  assert.equal(wallTimeAt('JST', noon), wallTimeAt('Asia/Tokyo', noon))
  assert.equal(wallTimeAt('IST', noon), wallTimeAt('Asia/Kolkata', noon))
})

test('wallTimeAt keeps milliseconds, before 1970 too', () => {
  assert.equal(wallTimeAt('Asia/Tokyo', 123), 123 + 9 * 3600_000)
  assert.equal(wallTimeAt('America/New_York', -1), -1 - 5 * 3600_000)
})

const gaps: readonly [name: string, zone: string, wall: string, jump: string, later: string][] = [
  ['an hour in Paris', 'Europe/Paris', '2026-03-29T02:15', '2026-03-29T01:00', '2026-03-29T01:15'],
  ['30 minutes on Lord Howe', 'Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:30', '2026-10-03T15:45'],
  ['midnight in São Paulo', 'America/Sao_Paulo', '2018-11-04T00:00', '2018-11-04T03:00', '2018-11-04T03:00'],
  ['past midnight in São Paulo', 'America/Sao_Paulo', '2018-11-04T00:59', '2018-11-04T03:00', '2018-11-04T03:59'],
  ['a whole day on Samoa', 'Pacific/Apia', '2011-12-30T08:00', '2011-12-30T10:00', '2011-12-30T18:00'],
  ['the end of that day', 'Pacific/Apia', '2011-12-30T23:59', '2011-12-30T10:00', '2011-12-31T09:59'],
  [
    'the return from winter time in Dublin',
    'Europe/Dublin',
    '2026-03-29T01:30',
    '2026-03-29T01:00',
    '2026-03-29T01:30',
  ],
]
for (const [name, zone, at, jump, later] of gaps) {
  test(`momentOf finds a moment for a skipped time: ${name}`, () => {
    assert.deepEqual([moment(zone, at, 'jump'), moment(zone, at, 'later')], [jump, later])
  })
}

const twice: readonly [zone: string, wall: string, first: string][] = [
  ['Europe/Paris', '2026-10-25T02:30', '2026-10-25T00:30'],
  ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45'],
  ['America/Sao_Paulo', '2018-02-17T23:30', '2018-02-18T01:30'],
  ['Europe/Dublin', '2026-10-25T01:30', '2026-10-25T00:30'],
  // Alaska changed the side of the date line: a whole day came twice.
  ['America/Juneau', '1867-10-18T12:00', '1867-10-17T20:57'],
]
for (const [zone, at, first] of twice) {
  test(`momentOf returns the first moment of a repeated time in ${zone}`, () => {
    assert.deepEqual([moment(zone, at, 'jump'), moment(zone, at, 'later')], [first, first])
  })
}

test('momentOf is the inverse of wallTimeAt just before and after a gap', () => {
  for (const inGap of ['jump', 'later'] as const) {
    assert.equal(moment('Pacific/Apia', '2011-12-29T23:59', inGap), '2011-12-30T09:59')
    assert.equal(moment('Pacific/Apia', '2011-12-31T00:00', inGap), '2011-12-30T10:00')
  }
})

test('nextChangeOf returns the next change of clocks', () => {
  const changes = (zone: string, after: string): (string | undefined)[] => {
    const first = nextChangeOf(zone, wall(after))
    return [shown(first), shown(first === undefined ? undefined : nextChangeOf(zone, first))]
  }
  assert.deepEqual(changes('Europe/Dublin', '2026-01-01T00:00'), ['2026-03-29T01:00', '2026-10-25T01:00'])
  assert.deepEqual(changes('Australia/Lord_Howe', '2026-01-01T00:00'), ['2026-04-04T15:00', '2026-10-03T15:30'])
  assert.deepEqual(changes('UTC', '2026-01-01T00:00'), [undefined, undefined])
  assert.deepEqual(changes('+05:30', '2026-01-01T00:00'), [undefined, undefined])
})
