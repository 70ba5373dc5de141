import type { Secret } from './secret.ts'
import { formsOf } from './secret-forms.ts'
import { TextFinder } from './text-finder.ts'

const hidden = '******'

/**
 * Replaces every secret of at least six characters with asterisks: in plain form and any case,
 * escaped as in JSON, URL-encoded, as hex, and as base64 also amid other bytes. Takes time in
 * proportion to the text, however many secrets there are.
 */
export function masker(secrets: readonly Secret[]): (line: string) => string {
  const forms = new Set<string>()
  for (const secret of secrets) for (const form of formsOf(secret.reveal())) forms.add(form)
  if (forms.size === 0) return (line) => line
  const finder = new TextFinder(forms)
  return (line) => {
    const found = finder.find(line)
    if (found.length === 0) return line
    const pieces: string[] = []
    let from = 0
    for (const [begin, end] of found) {
      pieces.push(line.slice(from, begin), hidden)
      from = end
    }
    pieces.push(line.slice(from))
    return pieces.join('')
  }
}
