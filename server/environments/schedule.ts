import { type Weekday, weekdays } from '@quayside/contract/resources/deployment-rule.ts'
import { momentOf, wallTimeAt } from '../lib/time-zone.ts'

/**
 * The hours in which something runs: on these days, from `start_time` until `stop_time`, in the
 * local time of the time zone.
 */
export interface Schedule {
  readonly timezone: string
  /**
   * Such as `08:00:00`. A stop that is not after the start is on the next day. Equal times mean a
   * whole day.
   */
  readonly start_time: string
  readonly stop_time: string
  readonly weekdays: readonly Weekday[]
}

const dayMs = 86_400_000

/** A period in which the environment runs, in milliseconds since 1970. */
interface Stretch {
  readonly from: number
  readonly until: number
}

/**
 * Pure: returns the period that begins on that local day. Undefined on a day that is not listed. If
 * a local time occurs twice, the first one counts. If it is skipped, it moves by as much as the
 * clock.
 */
function stretchOf(schedule: Schedule, day: number): Stretch | undefined {
  if (!schedule.weekdays.some((name) => name === weekdayOf(day))) return undefined
  const [start, stop] = [msOf(schedule.start_time), msOf(schedule.stop_time)]
  const from = momentOf(schedule.timezone, day * dayMs + start, 'later')
  const until = momentOf(schedule.timezone, (stop > start ? day : day + 1) * dayMs + stop, 'later')
  return { from, until }
}

const dayOf = (schedule: Schedule, instant: Date): number =>
  Math.floor(wallTimeAt(schedule.timezone, instant.getTime()) / dayMs)

/** Pure: whether the schedule includes that instant. */
export function isWithin(schedule: Schedule, instant: Date): boolean {
  const today = dayOf(schedule, instant)
  const now = instant.getTime()
  return [today - 1, today].some((day) => {
    const stretch = stretchOf(schedule, day)
    return stretch !== undefined && stretch.from <= now && now < stretch.until
  })
}

/** The side of the schedule that an instant is on. Undefined edges mean that it never changes. */
export interface Side {
  readonly isWithin: boolean
  readonly since: Date | undefined
  readonly until: Date | undefined
}

/** Schedules repeat weekly. One more day on both sides covers nights and clock changes. */
const daysAround = 8

/** Pure: returns the side of the instant. Adjacent periods are merged. */
export function sideOf(schedule: Schedule, instant: Date): Side {
  const today = dayOf(schedule, instant)
  const days = Array.from({ length: 2 * daysAround + 1 }, (_, index) => today - daysAround + index)
  const stretches = joined(days.flatMap((day) => stretchOf(schedule, day) ?? []))
  const now = instant.getTime()
  const at = (edge: number | undefined): Date | undefined => (edge === undefined ? undefined : new Date(edge))
  const isAlways = stretches.length <= 1 && schedule.weekdays.length === weekdays.length
  const inside = stretches.find(({ from, until }) => from <= now && now < until)
  if (inside && isAlways) return { isWithin: true, since: undefined, until: undefined }
  if (inside) return { isWithin: true, since: at(inside.from), until: at(inside.until) }
  const since = stretches.findLast(({ until }) => until <= now)?.until
  return { isWithin: false, since: at(since), until: at(stretches.find(({ from }) => now < from)?.from) }
}

/** Returns periods in order of time, with adjacent ones merged. */
function joined(stretches: readonly Stretch[]): Stretch[] {
  const all: Stretch[] = []
  for (const next of stretches) {
    const last = all.at(-1)
    if (last && next.from <= last.until) all.splice(-1, 1, { from: last.from, until: Math.max(last.until, next.until) })
    else all.push(next)
  }
  return all
}

/** 1970-01-01, day 0, was a Thursday. */
const weekdayOf = (day: number): Weekday | undefined => weekdays[(((day + 3) % 7) + 7) % 7]

const msOf = (time: string): number => timeOfDay(time).getTime()

/** Returns `08:00:00` in API format, a moment of the first day of 1970. */
export const timeOfDay = (time: string): Date => new Date(`1970-01-01T${time}Z`)

/** Returns the UTC time of day of a date-time, such as `08:00:00`. Drops fractions of a second. */
export const readTimeOfDay = (text: string): string => new Date(text).toISOString().slice(11, 19)
