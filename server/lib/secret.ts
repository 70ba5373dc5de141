import { inspect } from 'node:util'

/** A text that must not appear in a log, an answer or an error. Only `reveal` gives it away. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [inspect.custom](): string {
    return '[secret]'
  }
}

/** Replaces every secret of at least six characters, plain, base64 and URL-encoded, by asterisks. */
export function masker(secrets: readonly Secret[]): (line: string) => string {
  const forms = new Set<string>()
  for (const secret of secrets) {
    const text = secret.reveal()
    if (text.length < 6) continue
    for (const part of [text, ...text.split('\n').filter((line) => line.length >= 6)]) {
      forms.add(part)
      forms.add(Buffer.from(part).toString('base64').replace(/=+$/, ''))
      forms.add(encodeURIComponent(part))
    }
  }
  if (forms.size === 0) return (line) => line
  // Longest first, and in one expression: thousands of lines of a secret file cost a line of a log some microseconds.
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  const any = new RegExp(longestFirst.map((form) => RegExp.escape(form)).join('|'), 'g')
  return (line) => line.replace(any, '******')
}
