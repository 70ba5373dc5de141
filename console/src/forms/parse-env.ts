/** A line of a .env file that sets a variable. */
export interface EnvEntry {
  readonly key: string
  readonly value: string
}

export interface ParsedEnv {
  /** The last value of each key counts. */
  readonly entries: readonly EnvEntry[]
  /** The numbers of the lines that cannot be read. */
  readonly unread: readonly number[]
}

/**
 * Pure: reads a .env file: `KEY=value`, `export KEY=value`, comments, and values in quotes, which
 * may have several lines. Only double quotes have escapes.
 */
export function parseEnv(given: string): ParsedEnv {
  const text = given.replaceAll('\r\n', '\n')
  const found = new Map<string, string>()
  const unread: number[] = []
  let number = 1
  for (let at = 0; at < text.length; ) {
    const { entry, isUnread, next } = readLine(text, at)
    if (entry) found.set(entry.key, entry.value)
    if (isUnread) unread.push(number)
    number += text.slice(at, next).split('\n').length - 1
    at = next
  }
  return { entries: [...found].map(([key, value]) => ({ key, value })), unread }
}

interface Line {
  readonly entry?: EnvEntry
  readonly isUnread?: boolean
  /** The beginning of the next line. */
  readonly next: number
}

function readLine(text: string, start: number): Line {
  const end = endOfLine(text, start)
  const line = text.slice(start, end)
  if (/^\s*(?:#|$)/.test(line)) return { next: end + 1 }
  const equals = Math.max(line.indexOf('='), 0)
  const key = line
    .slice(0, equals)
    .trim()
    .replace(/^export\s+/, '')
  const rest = line.slice(equals + 1).trimStart()
  const [quote] = rest
  if (key === '') return { isUnread: true, next: end + 1 }
  if (quote !== '"' && quote !== "'") return { entry: { key, value: withoutComment(rest) }, next: end + 1 }
  const open = end - rest.length
  const close = closing(text, open + 1, quote)
  // No later line can begin with this quote, so the search for its end is made once.
  if (close < 0) return { isUnread: true, next: end + 1 }
  const inside = text.slice(open + 1, close)
  return { entry: { key, value: quote === '"' ? unescaped(inside) : inside }, next: endOfLine(text, close) + 1 }
}

function endOfLine(text: string, start: number): number {
  const found = text.indexOf('\n', start)
  return found < 0 ? text.length : found
}

/** The place of the quote that ends a value, or -1. */
function closing(text: string, start: number, quote: string): number {
  if (quote === "'") return text.indexOf(quote, start)
  for (let at = start; at < text.length; at += text[at] === '\\' ? 2 : 1) if (text[at] === quote) return at
  return -1
}

const withoutComment = (text: string): string => (text.startsWith('#') ? '' : (text.split(' #')[0] ?? '').trim())

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' }
const unescaped = (text: string): string =>
  text.replace(/\\([\s\S])/g, (_, letter: string) => escapes[letter] ?? letter)
