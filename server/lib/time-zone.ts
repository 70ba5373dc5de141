import { createRequire } from 'node:module'
import type { Temporal } from 'temporal-polyfill'
import { AppError } from './error.ts'

/*
 * Wall clocks of time zones. A wall time is written as the milliseconds that it would be in UTC, so
 * days and cron patterns are computed without a zone.
 */

/** Loaded on first use, because it takes memory and many installations have no timetable. */
let loaded: typeof Temporal | undefined
function temporal(): typeof Temporal {
  if (loaded) return loaded
  const library: { readonly Temporal: typeof Temporal } = createRequire(import.meta.url)('temporal-polyfill')
  loaded = library.Temporal
  return loaded
}

/** Throws 400 unless the runtime knows the time zone: `UTC`, `Europe/Paris`. */
export function checkTimeZone(field: string, zone: string): string {
  try {
    nameOf(zone)
    return zone
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new AppError('invalid', `${field} must be a time zone, for example Europe/Paris.`, { cause: error })
  }
}

/** Current names. Temporal rejects old abbreviations, such as JST, which Intl accepts. */
const names = new Map<string, string>()
/** Bounded, because users choose the spelling and each name has many. */
const keptNames = 1000
function nameOf(zone: string): string {
  const known = names.get(zone)
  if (known !== undefined) return known
  const name = new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  if (names.size >= keptNames) names.clear()
  names.set(zone, name)
  return name
}

const clockAt = (zone: string, atMs: number): Temporal.ZonedDateTime =>
  temporal().Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(nameOf(zone))

/** Returns the wall time at a moment. Throws RangeError if the zone is unknown. */
export const wallTimeAt = (zone: string, atMs: number): number =>
  atMs + Math.trunc(clockAt(zone, atMs).offsetNanoseconds / 1_000_000)

/** How to resolve a wall time that clocks skip: later by the length of the gap, or at its end. */
export type InGap = 'later' | 'jump'

/** Returns the moment of a wall time: the first of two if clocks are put back. */
export function momentOf(zone: string, wallMs: number, inGap: InGap): number {
  const wall = clockAt('UTC', wallMs).toPlainDateTime()
  const found = wall.toZonedDateTime(nameOf(zone))
  if (inGap === 'later' || found.toPlainDateTime().equals(wall)) return found.epochMilliseconds
  const beforeGap = wall.toZonedDateTime(nameOf(zone), { disambiguation: 'earlier' })
  return beforeGap.getTimeZoneTransition('next')?.epochMilliseconds ?? found.epochMilliseconds
}

/** Returns the next moment at which clocks are changed; undefined if the zone plans no change. */
export const nextChangeOf = (zone: string, afterMs: number): number | undefined =>
  clockAt(zone, afterMs).getTimeZoneTransition('next')?.epochMilliseconds
