const unreserved = /[A-Za-z0-9._~-]/
/**
 * An encoded percent sign before two hexadecimal digits. A program that decodes twice reads another
 * path.
 */
const encodedTwice = /%25[0-9A-Fa-f]{2}/
const plain = /^[/A-Za-z0-9_~-]*$/
/** Visible ASCII without the backslash and the number sign. */
const visible = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/**
 * Returns the path of a request target in its normal form: without needless escapes, with escapes
 * in upper case. Routes are matched against this form, and endpoints receive it. Undefined if two
 * programs could read the path differently.
 */
export function normalPath(target: string): string | undefined {
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  if (plain.test(path)) return path.startsWith('/') && !path.includes('//') ? path : undefined
  const decoded = path.includes('%') ? withoutNeedlessEscapes(path) : path
  if (decoded === undefined || !visible.test(decoded)) return undefined
  return hasOneReading(decoded) ? decoded : undefined
}

/** Returns the query of a request target with its question mark. It is forwarded unchanged. */
export function queryOf(target: string): string {
  const start = target.indexOf('?')
  return start === -1 ? '' : target.slice(start)
}

/** Returns undefined if an escape is invalid, encodes invalid UTF-8, or hides a separator. */
function withoutNeedlessEscapes(path: string): string | undefined {
  let isSound = true
  const decoded = path.replace(/%(..)?/gs, (escaped, digits: string | undefined) => {
    const byte = digits !== undefined && /^[0-9A-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : -1
    if (byte < 0x20 || byte === 0x7f || hiding.has(byte)) isSound = false
    const character = String.fromCharCode(Math.max(byte, 0))
    return byte < 0x80 && unreserved.test(character) ? character : escaped.toUpperCase()
  })
  return isSound && !encodedTwice.test(decoded) && isUtf8(decoded) ? decoded : undefined
}

const hiding = new Set([...'/\\;'].map((character) => character.charCodeAt(0)))

function isUtf8(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * Returns whether no segment is empty, `.` or `..`, parameters aside. The last segment may be
 * empty.
 */
function hasOneReading(path: string): boolean {
  const [first, ...segments] = path.split('/')
  return first === '' && segments.every((segment, index) => isSound(segment, index === segments.length - 1))
}

function isSound(segment: string, isLast: boolean): boolean {
  const name = nameOf(segment)
  return name === '' ? isLast && segment === '' : name !== '.' && name !== '..'
}

/** Returns a segment without its parameters. */
const nameOf = (segment: string): string => {
  const end = segment.indexOf(';')
  return end === -1 ? segment : segment.slice(0, end)
}

/** Returns the path without the parameters of its segments. */
export const withoutParameters = (path: string): string =>
  path.includes(';') ? path.split('/').map(nameOf).join('/') : path
