import { Secret } from '../lib/secret.ts'
import { maxValueBytes } from './names.ts'
import type { Source } from './resolve.ts'

/**
 * The variables of a service cannot be resolved. `message` names the variable and says what to
 * change.
 */
export class ResolveError extends Error {
  /** `unreadable`: the stored text of a secret cannot be opened. */
  readonly reason: 'cycle' | 'too-large' | 'unreadable'
  readonly key: string

  constructor(reason: ResolveError['reason'], key: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ResolveError'
    this.reason = reason
    this.key = key
  }
}

/** Maximum size of a file after interpolation, in bytes of UTF-8. */
export const maxFileBytes = 1024 * 1024
const reference = /\{\{([A-Za-z][A-Za-z0-9_]{0,254})\}\}/g

/** Lists the keys that a text names as `{{KEY}}`, each once. */
export const keysNamedIn = (text: string): string[] => [
  ...new Set([...text.matchAll(reference)].map(([, key = '']) => key)),
]

/** A quick check, since most texts contain no reference. */
export const mayRefer = (text: string | Secret): boolean => reveal(text).includes('{{')

/**
 * Replaces each `{{KEY}}` with that variable's own text, and an unknown key with an empty text.
 * Replaced text is not scanned again. If a replaced variable is a secret, the result is a secret.
 */
export function interpolate(key: string, source: Source, sources: ReadonlyMap<string, Source>): string | Secret {
  const template = reveal(source.text)
  const limit = source.path === undefined ? maxValueBytes : maxFileBytes
  let isSecret = source.text instanceof Secret
  let bytes = 0
  let end = 0
  const parts: string[] = []
  const add = (part: string): void => {
    bytes += Buffer.byteLength(part)
    if (bytes > limit) throw new ResolveError('too-large', key, tooLarge(key, limit))
    parts.push(part)
  }
  for (const match of template.matchAll(reference)) {
    const inserted = sources.get(match[1] ?? '')
    add(template.slice(end, match.index))
    end = match.index + match[0].length
    if (inserted) add(reveal(inserted.text))
    if (inserted?.text instanceof Secret) isSecret = true
  }
  add(template.slice(end))
  const text = parts.join('')
  return isSecret ? new Secret(text) : text
}

/** Returns the names of `{{KEY}}` in a text that no variable has. Pure. */
export const unknownIn = (text: string | Secret, sources: ReadonlyMap<string, Source>): string[] => {
  const names = new Set([...reveal(text).matchAll(reference)].map(([, name = '']) => name))
  return [...names].filter((name) => !sources.has(name))
}

const tooLarge = (key: string, limit: number): string =>
  `The variable ${key} is larger than ${limit} bytes with its references replaced. Shorten one of these variables.`

const reveal = (text: string | Secret): string => (text instanceof Secret ? text.reveal() : text)

/**
 * Throws ResolveError if variables refer to each other in a cycle, because a single replacement
 * would produce a text that nobody expects. It searches depth first without recursion, because a
 * chain may be as long as the list of variables.
 */
export function checkReferences(sources: ReadonlyMap<string, Source>): void {
  const done = new Set<string>()
  for (const [start, source] of sources) {
    if (!source.isScanned) continue
    const onPath = new Set<string>()
    const path: { key: string; next: Iterator<string> }[] = []
    const enter = (key: string): void => {
      onPath.add(key)
      path.push({ key, next: referencesOf(key, sources) })
    }
    if (!done.has(start)) enter(start)
    for (let last = path.at(-1); last; last = path.at(-1)) {
      const { done: isLeft, value: next } = last.next.next()
      if (isLeft) {
        done.add(last.key)
        onPath.delete(last.key)
        path.pop()
      } else if (onPath.has(next)) throw circle([...onPath], next)
      else if (!done.has(next)) enter(next)
    }
  }
}

function* referencesOf(key: string, sources: ReadonlyMap<string, Source>): Generator<string, undefined> {
  const source = sources.get(key)
  if (!source?.isScanned) return
  for (const [, name = ''] of reveal(source.text).matchAll(reference)) if (sources.has(name)) yield name
}

/** `path` is in the order of entry and ends where it meets `key` again. */
function circle(path: readonly string[], key: string): ResolveError {
  const round = path.slice(path.indexOf(key))
  const shown = round.length > 5 ? [...round.slice(0, 4), '…', round.at(-1)] : round
  const message = `The variable ${key} refers to itself (${[...shown, key].join(' → ')}). Remove one of these references.`
  return new ResolveError('cycle', key, message)
}
