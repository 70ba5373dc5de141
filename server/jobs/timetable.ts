import { Cron } from 'croner'
import { momentOf, nextChangeOf, wallTimeAt } from '../lib/time-zone.ts'

/** When something is to happen, as cron writes it: five fields or a name, read on the wall clocks of a time zone. */
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
/** Least and greatest number of each field, and its names. */
const fields = [
  { least: 0, greatest: 59, names: [] },
  { least: 0, greatest: 23, names: [] },
  { least: 1, greatest: 31, names: [] },
  { least: 1, greatest: 12, names: months },
  { least: 0, greatest: 7, names: weekdays },
] as const
type Field = (typeof fields)[number]

/** Further than any day of the calendar is away: 29 February may be eight years off. */
const furthestMs = 9 * 366 * 24 * 3600 * 1000

/**
 * The first moment after `after` at which the timetable says so; undefined where there is none, as on 30 February.
 *
 * Where clocks are put forward, a time of day that is left out counts once, at the moment when they go on; where they are put back, one
 * that comes twice counts the first time. A timetable that names no hour (`*`) means every hour as it passes, and goes on
 * through both.
 */
export function nextOccurrence({ scheduled_at, timezone }: Timetable, after: Date): Date | undefined {
  const text = normalized(scheduled_at)
  const pattern = new Cron(text, { timezone: 'UTC', mode: '5-part' })
  const next = (wallMs: number): number | undefined => pattern.nextRun(new Date(wallMs))?.getTime()
  const isHourly = text.split(' ')[1] === '*'
  const found = isHourly ? nextByHours(next, timezone, after.getTime()) : nextByClock(next, timezone, after.getTime())
  return found === undefined ? undefined : new Date(found)
}

/** The last moment from `from` up to `upTo`, both included; undefined where there is none. */
export function lastOccurrence(timetable: Timetable, from: Date, upTo: Date): Date | undefined {
  // Looked for from behind, in ever longer spans: a minute's timetable may have missed a month.
  for (let spanMs = 60_000; ; spanMs *= 4) {
    const start = Math.max(from.getTime(), upTo.getTime() - spanMs)
    let last: Date | undefined
    for (let at = nextOccurrence(timetable, new Date(start - 1)); at && at <= upTo; at = nextOccurrence(timetable, at))
      last = at
    if (last || start === from.getTime()) return last
  }
}

/** Gives the next wall time after one, both as if it were UTC. */
type NextWall = (wallMs: number) => number | undefined

function nextByClock(next: NextWall, zone: string, afterMs: number): number | undefined {
  const firstWall = wallTimeAt(zone, afterMs)
  for (let wall = next(firstWall); wall !== undefined && wall < firstWall + furthestMs; wall = next(wall)) {
    const instant = momentOf(zone, wall, 'jump')
    // Wall times of an hour that comes twice lie behind us the second time.
    if (instant > afterMs) return instant
  }
  return undefined
}

function nextByHours(next: NextWall, zone: string, afterMs: number): number | undefined {
  // Each turn covers the time until the clocks are changed next.
  for (let fromMs = afterMs; fromMs < afterMs + furthestMs; ) {
    const fromWall = wallTimeAt(zone, fromMs)
    const wall = next(fromWall)
    if (wall === undefined) return undefined
    const instant = fromMs + wall - fromWall
    const change = nextChangeOf(zone, fromMs)
    if (change === undefined || change > instant) return instant
    // The new offset counts from the moment of the change, which may be an occurrence itself.
    const changedWall = wallTimeAt(zone, change)
    if (next(changedWall - 1) === changedWall) return change
    fromMs = change
  }
  return undefined
}

/** Five fields of `*` and lists of numbers, so that nothing is left to how a library reads ranges, steps and names. */
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
  // A single number with a step begins a range that goes up to the end.
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
