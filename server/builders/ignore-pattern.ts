/** A set of characters: each range includes both ends. */
interface CharacterSet {
  readonly ranges: readonly (readonly [number, number])[]
  readonly isNegated: boolean
}

/**
 * One step of a pattern. `star` matches any characters except "/". `enter` and `above` together
 * match directories of any depth, or none. `rest` matches whatever follows.
 */
type Step =
  | { readonly kind: 'character'; readonly code: number }
  | ({ readonly kind: 'set' } & CharacterSet)
  | { readonly kind: 'one' | 'star' | 'enter' | 'above' | 'rest' }

/** A compiled pattern. For most patterns matching is one comparison of strings. */
export type Pattern =
  | { readonly kind: 'exact' | 'prefix' | 'suffix'; readonly text: string }
  | { readonly kind: 'steps'; readonly steps: readonly Step[]; readonly scratch: Scratch }

/** Memory for one comparison, reused by the next. */
interface Scratch {
  readonly seenAt: Float64Array
  places: Int32Array
  reached: Int32Array
  turn: number
}

const scratchFor = (steps: readonly Step[]): Scratch => ({
  seenAt: new Float64Array(steps.length + 1),
  places: new Int32Array(steps.length + 1),
  reached: new Int32Array(steps.length + 1),
  turn: 0,
})

/**
 * Compiles a pattern. Throws Error with the reason if Docker rejects it, or reads it in an
 * unexpected way.
 */
export function compilePattern(pattern: string): Pattern {
  const steps: Step[] = []
  const points = [...pattern]
  let kind: Pattern['kind'] = 'exact'
  let at = 0
  for (let order = 0; at < points.length; order++) {
    const point = points[at++] ?? ''
    if (point === '*' && points[at] === '*') {
      at += points[at + 1] === '/' ? 2 : 1
      const isLast = at >= points.length
      // Docker compares the end of the path as a string if only this comes first.
      kind = order === 0 ? 'suffix' : isLast && kind === 'exact' ? 'prefix' : 'steps'
      steps.push(...(isLast ? [{ kind: 'rest' } as const] : ([{ kind: 'enter' }, { kind: 'above' }] as const)))
    } else if (point === '*' || point === '?') {
      steps.push({ kind: point === '*' ? 'star' : 'one' })
      kind = 'steps'
    } else if (point === '[') {
      const set = readSet(points, at)
      steps.push({ kind: 'set', ...set.set })
      at = set.end
      kind = 'steps'
    } else if (point === '\\') {
      steps.push({ kind: 'character', code: codeOf(escaped(points[at++])) })
      kind = 'steps'
    } else {
      if (point === ']') kind = 'steps'
      steps.push({ kind: 'character', code: codeOf(point) })
    }
  }
  if (kind === 'steps') return { kind, steps: checked(steps, pattern), scratch: scratchFor(steps) }
  const text = kind === 'prefix' ? pattern.slice(0, -2) : kind === 'suffix' ? pattern.slice(2) : pattern
  return { kind, text }
}

/** Rejects characters that Docker passes unescaped to its regular expressions. */
function checked(steps: readonly Step[], pattern: string): readonly Step[] {
  const plain = withoutSets(pattern)
  if (plain.includes('|') || plain.includes('^') || /\{\d+(?:,\d*)?\}/.test(plain)) {
    throw new Error('"|", "^" and repetitions such as "{2}" must not be used together with wildcards')
  }
  return steps
}

/** Returns the pattern without the text in brackets and escaped characters. */
function withoutSets(pattern: string): string {
  let plain = ''
  let isInSet = false
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? ''
    if (character === '\\') at++
    else if (character === '[') isInSet = true
    else if (character === ']') isInSet = false
    else if (!isInSet) plain += character
  }
  return plain
}

function readSet(points: readonly string[], start: number): { readonly set: CharacterSet; readonly end: number } {
  let at = start
  const isNegated = points[at] === '^'
  if (isNegated) at++
  const ranges: [number, number][] = []
  const next = (): number => {
    const point = points[at++]
    if (point === undefined) throw new Error('a "[" is not closed by "]"')
    if (point === '\\') return codeOf(escaped(points[at++]))
    if ('-][*?'.includes(point)) throw new Error(`"${point}" in brackets needs a backslash before it`)
    return codeOf(point)
  }
  do {
    const low = next()
    if (points[at] !== '-') {
      ranges.push([low, low])
      continue
    }
    at++
    const high = next()
    if (high < low) throw new Error('the range in brackets ends before it begins')
    ranges.push([low, high])
  } while (points[at] !== ']')
  return { set: { ranges, isNegated }, end: at + 1 }
}

/** Reads an escaped character. Docker reads a backslash before a letter in another way. */
function escaped(point: string | undefined): string {
  if (point === undefined) throw new Error('a backslash at the end has nothing to escape')
  if (!/^[!-/:-@[-`{-~ ]$/.test(point)) throw new Error(`a backslash must not come before "${point}"`)
  return point
}

const codeOf = (point: string): number => point.codePointAt(0) ?? 0

const slash = 0x2f
const newline = 0x0a

/**
 * Whether the pattern matches the whole path. Passes the work to `spend`, at most steps ×
 * characters.
 */
export function matchesPattern(pattern: Pattern, path: string, spend: (work: number) => void): boolean {
  spend(1 + ((pattern.kind === 'steps' ? pattern.steps : pattern.text).length >> 4))
  switch (pattern.kind) {
    case 'exact':
      return path === pattern.text
    case 'prefix':
      return path.startsWith(pattern.text)
    case 'suffix':
      return path.endsWith(pattern.text) || (pattern.text.startsWith('/') && path === pattern.text.slice(1))
    case 'steps':
      return matchesSteps(pattern, path, spend)
  }
}

/** Follows all readings of the pattern at once, without backtracking. */
function matchesSteps(
  { steps, scratch }: Extract<Pattern, { kind: 'steps' }>,
  path: string,
  spend: (work: number) => void,
): boolean {
  scratch.turn++
  let count = enter(steps, scratch, 0, 0)
  for (const point of path) {
    const { places } = scratch
    scratch.places = scratch.reached
    scratch.reached = places
    scratch.turn++
    spend(count)
    const code = codeOf(point)
    let next = 0
    for (let index = 0; index < count; index++) {
      const place = places[index] ?? 0
      const step = steps[place]
      if (step === undefined || !accepts(step, code)) continue
      const stays = step.kind === 'star' || step.kind === 'rest' || step.kind === 'above'
      if (stays) next = enter(steps, scratch, place, next)
      if (!stays || (step.kind === 'above' && code === slash)) next = enter(steps, scratch, place + 1, next)
    }
    if (next === 0) return false
    count = next
  }
  return scratch.seenAt[steps.length] === scratch.turn
}

/**
 * Notes a place, and the places reached from it without a character. Returns how many were noted.
 */
function enter(steps: readonly Step[], scratch: Scratch, from: number, noted: number): number {
  const { seenAt, turn, places } = scratch
  let count = noted
  for (let place = from; seenAt[place] !== turn; place++) {
    seenAt[place] = turn
    places[count++] = place
    const kind = steps[place]?.kind
    if (kind === 'enter') count = enter(steps, scratch, place + 2, count)
    if (kind !== 'star' && kind !== 'rest' && kind !== 'enter') break
  }
  return count
}

function accepts(step: Step, code: number): boolean {
  switch (step.kind) {
    case 'character':
      return step.code === code
    case 'set':
      return step.ranges.some(([low, high]) => low <= code && code <= high) !== step.isNegated
    case 'one':
    case 'star':
      return code !== slash
    case 'above':
    case 'rest':
      return code !== newline
    case 'enter':
      return false
  }
}
