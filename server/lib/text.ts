import { AppError } from './error.ts'

/**
 * Control characters, bidirectional overrides and invisible joiners, which a name must not contain.
 */
const unfit = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u

/** Replaces control characters and invisible characters with `?`. */
export const printable = (text: string): string =>
  [...text].map((character) => (unfit.test(character) ? '?' : character)).join('')

/**
 * Returns the name in its canonical spelling (NFC, trimmed). Throws if it is empty or contains
 * invisible characters.
 */
export function checkName(field: string, text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new AppError('invalid', `${field} must not be empty.`)
  if (unfit.test(name)) throw new AppError('invalid', `${field} must not hold control or invisible characters.`)
  return name
}

/**
 * Throws if a browser would run the text when it opens it as an address. Other texts pass:
 * addresses without a scheme, `git@host:path`, paths, and images as data.
 */
export function checkNoScript(field: string, text: string): void {
  // Browsers ignore control characters and spaces before and within a scheme.
  const [scheme = '', rest] = text
    .slice(0, 2000)
    .replace(/[\p{Cc}\s]/gu, '')
    .toLowerCase()
    .split(':', 2)
  if (rest === undefined) return
  const isScript = scheme === 'javascript' || scheme === 'vbscript' || (scheme === 'data' && !rest.startsWith('image/'))
  if (isScript) throw new AppError('invalid', `${field} must be an address or an image, not a script.`)
}
