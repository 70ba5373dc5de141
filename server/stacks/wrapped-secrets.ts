import { Secret } from '../lib/secret.ts'

/** Characters of a line of the engines, which break longer texts between words. */
const lineUnits = 80
/** Shorter beginnings of a secret are parts of their own; a masker finds longer ones. */
const foundUnits = 32
/** Parts shorter than this occur in too many harmless lines. */
const shortestUnits = 6
/** Words of a secret that are looked at. */
const mostWords = 200

/**
 * Pure: returns the secrets with the parts of each that a line can have. The engines break texts of
 * providers at 78 columns, so a secret of several words ends in one line and continues in the next.
 */
export const withWrapped = (secrets: readonly Secret[]): Secret[] => [
  ...secrets,
  ...secrets.flatMap((secret) => partsOf(secret.reveal()).map((part) => new Secret(part))),
]

function partsOf(text: string): string[] {
  const parts: string[] = []
  for (let at = text.indexOf(' '), count = 0; at !== -1 && count < mostWords; at = text.indexOf(' ', at + 1), count++) {
    const [before, after] = [text.slice(0, Math.min(at, foundUnits)), text.slice(at + 1, at + 1 + lineUnits)]
    if (at < foundUnits) parts.push(before)
    parts.push(after)
  }
  return parts.filter((part) => part.trim().length >= shortestUnits)
}
