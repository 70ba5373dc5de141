import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCron } from '../services/settings/cron.ts'
import { lastOccurrence, nextOccurrence, normalized } from './timetable.ts'

/** Returns the next `count` moments, in UTC to the minute. */
function following(scheduled_at: string, timezone: string, after: string, count: number): string[] {
  const found: string[] = []
  let at: Date | undefined = new Date(after)
  while (found.length < count) {
    at = nextOccurrence({ scheduled_at, timezone }, at)
    if (!at) break
    found.push(at.toISOString().slice(0, 16))
  }
  return found
}

test('fields, ranges, steps, lists and names are read', () => {
  const cases: readonly [string, string[]][] = [
    ['* * * * *', ['2026-01-01T00:01', '2026-01-01T00:02']],
    ['*/20 3 * * *', ['2026-01-01T03:00', '2026-01-01T03:20', '2026-01-01T03:40', '2026-01-02T03:00']],
    ['10-20/5 0 1 feb *', ['2026-02-01T00:10', '2026-02-01T00:15', '2026-02-01T00:20', '2027-02-01T00:10']],
    ['50/5 1 * * *', ['2026-01-01T01:50', '2026-01-01T01:55', '2026-01-02T01:50']],
    ['0 9 * * mon-fri', ['2026-01-01T09:00', '2026-01-02T09:00', '2026-01-05T09:00']],
    ['0 0 * * 7', ['2026-01-04T00:00', '2026-01-11T00:00']],
    ['0 0 13 * FRI', ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00', '2026-01-16T00:00']],
    ['@monthly', ['2026-02-01T00:00', '2026-03-01T00:00']],
    ['@hourly', ['2026-01-01T01:00', '2026-01-01T02:00']],
  ]
  for (const [text, moments] of cases) {
    assert.deepEqual(following(text, 'Etc/UTC', '2026-01-01T00:00:00Z', moments.length), moments, text)
  }
})

test('29 February occurs every fourth year, 30 February never', () => {
  assert.deepEqual(following('0 12 29 2 *', 'Europe/Paris', '2026-01-01T00:00:00Z', 2), [
    '2028-02-29T11:00',
    '2032-02-29T11:00',
  ])
  assert.deepEqual(following('0 12 29 2 *', 'Etc/UTC', '2096-03-01T00:00:00Z', 1), ['2104-02-29T12:00'])
  assert.deepEqual(following('0 0 30 2 *', 'Europe/Paris', '2026-01-01T00:00:00Z', 1), [])
})

test('in Paris a skipped time runs once, when the clocks change', () => {
  // 29 March 2026: 02:00 becomes 03:00, at 01:00 UTC.
  assert.deepEqual(following('30 2 * * *', 'Europe/Paris', '2026-03-28T00:00:00Z', 3), [
    '2026-03-28T01:30',
    '2026-03-29T01:00',
    '2026-03-30T00:30',
  ])
  assert.deepEqual(following('*/30 2,3 * * *', 'Europe/Paris', '2026-03-29T00:00:00Z', 3), [
    '2026-03-29T01:00',
    '2026-03-29T01:30',
    '2026-03-30T00:00',
  ])
  assert.deepEqual(following('15 * * * *', 'Europe/Paris', '2026-03-28T23:30:00Z', 3), [
    '2026-03-29T00:15',
    '2026-03-29T01:15',
    '2026-03-29T02:15',
  ])
})

test('in Paris a repeated time runs once, and every hour means every hour', () => {
  // 25 October 2026: 03:00 becomes 02:00, at 01:00 UTC.
  assert.deepEqual(following('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00:00Z', 2), [
    '2026-10-25T00:30',
    '2026-10-26T01:30',
  ])
  assert.deepEqual(following('30 * * * *', 'Europe/Paris', '2026-10-24T23:00:00Z', 4), [
    '2026-10-24T23:30',
    '2026-10-25T00:30',
    '2026-10-25T01:30',
    '2026-10-25T02:30',
  ])
})

test('the same in New York', () => {
  // 8 March 2026: 02:00 becomes 03:00, at 07:00 UTC. 1 November 2026: 02:00 becomes 01:00, at 06:00
  // UTC.
  assert.deepEqual(following('15 2 * * *', 'America/New_York', '2026-03-07T12:00:00Z', 2), [
    '2026-03-08T07:00',
    '2026-03-09T06:15',
  ])
  assert.deepEqual(following('15 1 * * *', 'America/New_York', '2026-10-31T12:00:00Z', 2), [
    '2026-11-01T05:15',
    '2026-11-02T06:15',
  ])
  assert.deepEqual(following('* * * * *', 'America/New_York', '2026-11-01T05:59:30Z', 2), [
    '2026-11-01T06:00',
    '2026-11-01T06:01',
  ])
})

test('on Lord Howe, where clocks change by half an hour', () => {
  // 4 October 2026: 02:00 becomes 02:30, at 15:30 UTC. 5 April 2026: 02:00 becomes 01:30, at 15:00
  // UTC.
  const zone = 'Australia/Lord_Howe'
  assert.deepEqual(following('15 2 * * *', zone, '2026-10-02T20:00:00Z', 2), ['2026-10-03T15:30', '2026-10-04T15:15'])
  assert.deepEqual(following('45 1 * * *', zone, '2026-04-04T12:00:00Z', 2), ['2026-04-04T14:45', '2026-04-05T15:15'])
  assert.deepEqual(following('45 * * * *', zone, '2026-04-04T14:30:00Z', 3), [
    '2026-04-04T14:45',
    '2026-04-04T15:15',
    '2026-04-04T16:15',
  ])
})

test('a day that does not exist runs once, when the next one begins', () => {
  // Samoa left out 30 December 2011.
  const zone = 'Pacific/Apia'
  assert.deepEqual(following('0 8 * * *', zone, '2011-12-29T12:00:00Z', 3), [
    '2011-12-29T18:00',
    '2011-12-30T10:00',
    '2011-12-30T18:00',
  ])
  assert.deepEqual(following('0 * * * *', zone, '2011-12-30T08:30:00Z', 3), [
    '2011-12-30T09:00',
    '2011-12-30T10:00',
    '2011-12-30T11:00',
  ])
})

test('a skipped midnight runs at one, and a repeated midnight runs once', () => {
  // São Paulo: 4 November 2018 began at 01:00; 18 February 2018 began an hour after 23:00 came
  // again.
  const zone = 'America/Sao_Paulo'
  assert.deepEqual(following('@daily', zone, '2018-11-03T12:00:00Z', 2), ['2018-11-04T03:00', '2018-11-05T02:00'])
  assert.deepEqual(following('@daily', zone, '2018-02-17T12:00:00Z', 2), ['2018-02-18T03:00', '2018-02-19T03:00'])
  assert.deepEqual(following('30 23 * * *', zone, '2018-02-17T12:00:00Z', 2), ['2018-02-18T01:30', '2018-02-19T02:30'])
})

test('in Dublin, where winter time is the exception', () => {
  const zone = 'Europe/Dublin'
  assert.deepEqual(following('30 1 * * *', zone, '2026-03-28T12:00:00Z', 2), ['2026-03-29T01:00', '2026-03-30T00:30'])
  assert.deepEqual(following('30 1 * * *', zone, '2026-10-24T12:00:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30'])
})

test('the last missed moment is found, however long ago it was', () => {
  const last = (scheduled_at: string, from: string, upTo: string) =>
    lastOccurrence({ scheduled_at, timezone: 'Etc/UTC' }, new Date(from), new Date(upTo))?.toISOString().slice(0, 16)
  assert.equal(last('* * * * *', '2026-01-01T00:00:00Z', '2026-06-01T00:00:30Z'), '2026-06-01T00:00')
  assert.equal(last('0 0 1 1 *', '2025-01-01T00:00:00Z', '2026-12-31T00:00:00Z'), '2026-01-01T00:00')
  assert.equal(last('0 0 1 1 *', '2026-01-01T00:00:01Z', '2026-12-31T00:00:00Z'), undefined)
  assert.equal(last('5 * * * *', '2026-01-01T00:05:00Z', '2026-01-01T00:05:00Z'), '2026-01-01T00:05')
})

const accepts = (text: string): boolean => {
  try {
    checkCron('text', text)
    return true
  } catch {
    return false
  }
}

/** Small and repeatable. */
function* randoms(seed: number): Generator<(below: number) => number, never> {
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (;;) yield random
}

test('every accepted timetable has a next moment that matches it, and none earlier', () => {
  const [least, greatest] = [
    [0, 0, 1, 1, 0],
    [59, 23, 31, 12, 7],
  ] as const
  const words = [[], [], [], ['JAN', 'feb', 'Dec'], ['SUN', 'mon', 'Sat']] as const
  let accepted = 0
  let made = 0
  for (const random of randoms(61)) {
    if (++made > 400) break
    const number = (field: number): string => {
      const names: readonly string[] = words[field] ?? []
      if (names.length > 0 && random(4) === 0) return names[random(names.length)] ?? ''
      return String((least[field] ?? 0) + random((greatest[field] ?? 0) - (least[field] ?? 0) + 2))
    }
    const piece = (field: number): string => {
      const range = ['*', '*', number(field), `${number(field)}-${number(field)}`][random(4)] ?? '*'
      return random(3) === 0 ? `${range}/${random(8)}` : range
    }
    const text = [0, 1, 2, 3, 4]
      .map((field) => (random(4) === 0 ? `${piece(field)},${piece(field)}` : piece(field)))
      .join(' ')
    if (!accepts(text)) continue
    accepted++
    const after = new Date(Date.UTC(2026, random(12), 1 + random(28), random(24), random(60)))
    const next = nextOccurrence({ scheduled_at: text, timezone: 'Etc/UTC' }, after)
    const sets = normalized(text)
      .split(' ')
      .map((field) => (field === '*' ? undefined : new Set(field.split(',').map(Number))))
    const fits = (at: Date): boolean => {
      const [minute, hour, day, month, weekday] = sets
      const onDay = day?.has(at.getUTCDate()) ?? true
      const onWeekday = weekday?.has(at.getUTCDay()) ?? true
      const isDay = day && weekday ? onDay || onWeekday : onDay && onWeekday
      return (
        isDay &&
        (minute?.has(at.getUTCMinutes()) ?? true) &&
        (hour?.has(at.getUTCHours()) ?? true) &&
        (month?.has(at.getUTCMonth() + 1) ?? true)
      )
    }
    if (next) assert.ok(fits(next), `${text}: ${next.toISOString()}`)
    // Computed minute by minute for a day.
    const end = Math.min(next?.getTime() ?? Number.POSITIVE_INFINITY, after.getTime() + 24 * 3600_000)
    for (let at = after.getTime() + 60_000; at < end; at += 60_000) {
      assert.ok(!fits(new Date(at)), `${text} left out ${new Date(at).toISOString()} after ${after.toISOString()}`)
    }
  }
  assert.ok(accepted > 100, `${accepted} were accepted`)
})
