/** The windows of one length, and how long they are kept. */
export interface Level {
  readonly seconds: number
  readonly keptSeconds: number
}

const hour = 3600
const day = 24 * hour

/** From fine to coarse. Each length is a multiple of the one before. */
export const levels: readonly [Level, ...Level[]] = [
  { seconds: 60, keptSeconds: 2 * hour },
  { seconds: 600, keptSeconds: day + 2 * hour },
  { seconds: hour, keptSeconds: 8 * day },
  { seconds: 4 * hour, keptSeconds: 31 * day },
]

/** The most points of one answer. */
export const mostPoints = 1_500

/** A range of times in milliseconds since 1970, divided into steps. */
export interface Range {
  readonly fromMs: number
  readonly toMs: number
  readonly stepSeconds: number
}

/** A part of a range that is read from the windows of one length. */
export interface Part {
  readonly seconds: number
  readonly fromMs: number
  readonly toMs: number
}

/** Pure: returns the start of the window or step in which a time is. */
export const floorTo = (ms: number, seconds: number): number => Math.floor(ms / (seconds * 1000)) * seconds * 1000

/** A range that a client asks for. */
interface Wish {
  readonly fromMs: number
  readonly toMs: number
  readonly stepSeconds: number | undefined
}

const stepFor = ({ fromMs, toMs, stepSeconds = 0 }: Wish, { seconds }: Level): number =>
  Math.ceil(Math.max(stepSeconds, seconds, (toMs - fromMs) / 1000 / (mostPoints - 1)) / seconds) * seconds

/**
 * Pure: returns the range to read for a wish. Its step is a length of windows that reach back to
 * the begin of its first step, or a multiple of it. Its ends are at the edges of steps.
 */
export function rangeOf(wish: Wish, nowMs: number): Range {
  const { fromMs, toMs } = wish
  const reaches = (level: Level): boolean => floorTo(fromMs, stepFor(wish, level)) >= nowMs - level.keptSeconds * 1000
  const stepSeconds = stepFor(wish, levels.find(reaches) ?? levels.at(-1) ?? levels[0])
  const endMs = floorTo(toMs - 1, stepSeconds) + stepSeconds * 1000
  return { fromMs: floorTo(fromMs, stepSeconds), toMs: endMs, stepSeconds }
}

/**
 * Pure: divides a range into parts without overlap. The coarsest windows that fit the step come
 * first, up to where they are complete, then finer ones. `completeUntil` has milliseconds by the
 * length of windows.
 */
export function partsOf({ fromMs, toMs, stepSeconds }: Range, completeUntil: ReadonlyMap<number, number>): Part[] {
  const parts: Part[] = []
  let startMs = fromMs
  for (const { seconds } of levels.toReversed()) {
    if (stepSeconds % seconds !== 0) continue
    const isFinest = seconds === levels[0].seconds
    const endMs = isFinest ? toMs : Math.min(toMs, completeUntil.get(seconds) ?? 0)
    if (endMs <= startMs) continue
    parts.push({ seconds, fromMs: startMs, toMs: endMs })
    startMs = endMs
  }
  return parts
}
