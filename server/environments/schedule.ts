import { type Weekday, weekdays } from '@quayside/contract/resources/deployment-rule.ts'
import { momentOf, wallTimeAt } from '../lib/time-zone.ts'

/**
 * When something is to run: on these days from `start_time` until before `stop_time`, as the clocks
 * of the time zone show.
 */
export interface Schedule {
  readonly timezone: string
  /**
   * `08:00:00`. A stop that is not after the start is one of the next day; the same time twice is a
   * whole day.
   */
  readonly start_time: string
  readonly stop_time: string
  readonly weekdays: readonly Weekday[]
}

const dayMs = 86_400_000

/** One stretch of time in which it runs, in milliseconds since 1970. */
interface Stretch {
  readonly from: number
  readonly until: number
}

/**
 * Pure: the stretch that begins on that day of the zone; undefined on a day that is not listed. A
 * time that a clock shows twice in the night when it is put back counts the first time; one that it
 * skips is as much later as the clock was put forward.
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

/** Pure: whether the schedule has it run at that instant. */
export function isWithin(schedule: Schedule, instant: Date): boolean {
  const today = dayOf(schedule, instant)
  const now = instant.getTime()
  return [today - 1, today].some((day) => {
    const stretch = stretchOf(schedule, day)
    return stretch !== undefined && stretch.from <= now && now < stretch.until
  })
}

/** On which side of the schedule an instant lies, since when, and until when; undefined: always. */
export interface Side {
  readonly isWithin: boolean
  readonly since: Date | undefined
  readonly until: Date | undefined
}

/**
 * Everything comes again within a week; a day more on both sides, for nights and changes of clocks.
 */
const daysAround = 8

/** Pure: the side of the instant. Stretches that touch are one. */
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

/** Stretches in order of time, those that touch as one. */
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

/** `08:00:00` as the API answers it, on the first day of 1970. */
export const timeOfDay = (time: string): Date => new Date(`1970-01-01T${time}Z`)

/**
 * The time of day of a moment, in UTC: `08:00:00`. The text is a date-time; what is less than a
 * second is dropped.
 */
export const readTimeOfDay = (text: string): string => new Date(text).toISOString().slice(11, 19)
