import { Cron } from 'croner'
import { momentOf, nextChangeOf, wallTimeAt } from '../lib/time-zone.ts'

/** A time in cron's notation: five fields or a name, read on the wall clock of a time zone. */
export interface Timetable {
  readonly scheduled_at: string
  readonly timezone: string
}

const nicknames: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
/** The smallest and largest number of each field, and its names. */
const fields = [
  { least: 0, greatest: 59, names: [] },
  { least: 0, greatest: 23, names: [] },
  { least: 1, greatest: 31, names: [] },
  { least: 1, greatest: 12, names: months },
  { least: 0, greatest: 7, names: weekdays },
] as const
type Field = (typeof fields)[number]

/** Beyond any day of the calendar: 29 February may be eight years away. */
const furthestMs = 9 * 366 * 24 * 3600 * 1000

/**
 * Returns the first moment after `after` that matches the timetable. Undefined if there is none, as
 * for 30 February.
 *
 * If clocks are set forward, a skipped time of day counts once, at the moment of the change. If
 * they are set back, a repeated time counts the first time. A timetable without an hour (`*`) means
 * every hour that passes, and runs through both.
 */
export function nextOccurrence({ scheduled_at, timezone }: Timetable, after: Date): Date | undefined {
  const text = normalized(scheduled_at)
  const pattern = new Cron(text, { timezone: 'UTC', mode: '5-part' })
  const next = (wallMs: number): number | undefined => pattern.nextRun(new Date(wallMs))?.getTime()
  const isHourly = text.split(' ')[1] === '*'
  const found = isHourly ? nextByHours(next, timezone, after.getTime()) : nextByClock(next, timezone, after.getTime())
  return found === undefined ? undefined : new Date(found)
}

/** Returns the last moment from `from` up to `upTo`, both included, or undefined. */
export function lastOccurrence(timetable: Timetable, from: Date, upTo: Date): Date | undefined {
  // Searches backwards in growing spans, because a timetable of every minute may have missed a
  // month.
  for (let spanMs = 60_000; ; spanMs *= 4) {
    const start = Math.max(from.getTime(), upTo.getTime() - spanMs)
    let last: Date | undefined
    for (let at = nextOccurrence(timetable, new Date(start - 1)); at && at <= upTo; at = nextOccurrence(timetable, at))
      last = at
    if (last || start === from.getTime()) return last
  }
}

/** Returns the next wall time after one, both as if they were UTC. */
type NextWall = (wallMs: number) => number | undefined

function nextByClock(next: NextWall, zone: string, afterMs: number): number | undefined {
  const firstWall = wallTimeAt(zone, afterMs)
  for (let wall = next(firstWall); wall !== undefined && wall < firstWall + furthestMs; wall = next(wall)) {
    const instant = momentOf(zone, wall, 'jump')
    // The wall times of a repeated hour are in the past the second time.
    if (instant > afterMs) return instant
  }
  return undefined
}

function nextByHours(next: NextWall, zone: string, afterMs: number): number | undefined {
  // Each iteration covers the time until the next change of the clocks.
  for (let fromMs = afterMs; fromMs < afterMs + furthestMs; ) {
    const fromWall = wallTimeAt(zone, fromMs)
    const wall = next(fromWall)
    if (wall === undefined) return undefined
    const instant = fromMs + wall - fromWall
    const change = nextChangeOf(zone, fromMs)
    if (change === undefined || change > instant) return instant
    // The new offset applies from the moment of the change, which may match itself.
    const changedWall = wallTimeAt(zone, change)
    if (next(changedWall - 1) === changedWall) return change
    fromMs = change
  }
  return undefined
}

/**
 * Returns five fields of `*` and lists of numbers, so that no library interprets ranges, steps and
 * names.
 */
export function normalized(text: string): string {
  const parts = (nicknames[text.trim()] ?? text.trim()).split(/\s+/)
  return fields.map((field, index) => normalizedField(parts[index] ?? '', field)).join(' ')
}

function normalizedField(part: string, field: Field): string {
  const { greatest } = field
  const pieces = part.split(',')
  if (pieces.includes('*')) return '*'
  const numbers = new Set(pieces.flatMap((piece) => numbersOf(piece, field)))
  // Sunday has two numbers.
  if (greatest === 7 && numbers.delete(7)) numbers.add(0)
  return [...numbers].sort((a, b) => a - b).join(',')
}

function numbersOf(piece: string, field: Field): number[] {
  const [range = '', step] = piece.split('/')
  const { least } = field
  const greatest = field.greatest === 7 ? 6 : field.greatest
  const [low = '', high] = range.split('-')
  const first = range === '*' ? least : numberOf(low, field)
  // A single number with a step begins a range to the end.
  const last =
    range === '*' ? greatest : high === undefined ? (step ? Math.max(first, greatest) : first) : numberOf(high, field)
  const every = step ? Number(step) : 1
  return Array.from({ length: Math.max(0, Math.floor((last - first) / every) + 1) }, (_, n) => first + n * every)
}

function numberOf(text: string, { names, least }: Field): number {
  const known: readonly string[] = names
  const index = known.indexOf(text.toUpperCase())
  return index === -1 ? Number(text) : index + least
}
