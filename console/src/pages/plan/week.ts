export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export type Weekday = (typeof weekdays)[number]

/** A part of a day, in minutes from midnight. */
export interface Span {
  readonly from: number
  readonly to: number
}

const dayMinutes = 24 * 60

/** Pure: minutes from midnight of a time such as `08:30`. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** Pure: the time of day of the API, `1970-01-01T08:30:00.000Z`, as `08:30`. */
export const clockOf = (time: string): string => time.slice(11, 16)

/** Pure: a time such as `08:30` as the API has it. */
export const apiTimeOf = (time: string): string => `1970-01-01T${time}:00.000Z`

/**
 * Pure: the hours of each day at which an environment runs. A stop that is not after the start is
 * on the next day, as in the API.
 */
export function hoursOf(days: readonly Weekday[], start: string, stop: string): readonly (readonly Span[])[] {
  const [from, to] = [minutesOf(start), minutesOf(stop)]
  const isNight = to <= from
  return weekdays.map((day, index) => {
    const before = weekdays[(index + 6) % 7] ?? day
    const spill = isNight && to > 0 && days.includes(before) ? [{ from: 0, to }] : []
    const own = days.includes(day) ? [{ from, to: isNight ? dayMinutes : to }] : []
    return [...spill, ...own]
  })
}
