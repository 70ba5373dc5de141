import { Secret } from '../lib/secret.ts'
import { maxValueBytes } from './names.ts'
import type { Source } from './resolve.ts'

/** Why the variables of a service give no environment. `message` names the variable and says what to change. */
export class ResolveError extends Error {
  /** `unreadable`: a secret's stored text does not open. */
  readonly reason: 'cycle' | 'too-large' | 'unreadable'
  readonly key: string

  constructor(reason: ResolveError['reason'], key: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'ResolveError'
    this.reason = reason
    this.key = key
  }
}

/** Bytes of UTF-8 that a file may grow to. */
export const maxFileBytes = 1024 * 1024
const reference = /\{\{([A-Za-z][A-Za-z0-9_]{0,254})\}\}/g

/** Most texts name no variable, and this is told sooner than a pattern tells it. */
export const mayRefer = (text: string | Secret): boolean => reveal(text).includes('{{')

/**
 * The text with each `{{KEY}}` replaced by that variable's own text; an unknown key is replaced by nothing. What was put
 * in is not scanned again. A secret in it makes the whole a secret.
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

const tooLarge = (key: string, limit: number): string =>
  `The variable ${key} is larger than ${limit} bytes once the variables that it names are put in: make one of them shorter.`

const reveal = (text: string | Secret): string => (text instanceof Secret ? text.reveal() : text)

/**
 * Throws ResolveError where variables name each other in a circle: nobody means what a single replacement would make of it.
 * Depth first without recursion, because a chain may be as long as there are variables.
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

/** `path` in the order of entering; it leads back to `key`. */
function circle(path: readonly string[], key: string): ResolveError {
  const round = path.slice(path.indexOf(key))
  const shown = round.length > 5 ? [...round.slice(0, 4), '…', round.at(-1)] : round
  const message = `The variable ${key} refers to itself (${[...shown, key].join(' → ')}): take one of these references out.`
  return new ResolveError('cycle', key, message)
}
