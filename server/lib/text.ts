import { AppError } from './error.ts'

/** Control characters, bidirectional overrides and invisible joiners have no place in a name. */
const unfit = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/u

/** The name in its one spelling (NFC, trimmed); throws when nothing is left, or when it holds what cannot be seen. */
export function checkName(field: string, text: string): string {
  const name = text.normalize('NFC').trim()
  if (name === '') throw new AppError('invalid', `${field} must not be empty.`)
  if (unfit.test(name)) throw new AppError('invalid', `${field} must not hold control or invisible characters.`)
  return name
}

/** Throws unless the text is an http or https address without credentials. */
export function checkWebAddress(field: string, text: string): void {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password) {
    throw new AppError('invalid', `${field} must be an http or https address without credentials.`)
  }
}
