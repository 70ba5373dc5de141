import { Secret } from '../../../lib/secret.ts'
import type { RenderedObject } from '../../engine.ts'

/** Characters of one value that is looked for, and of all. */
const longest = 16_384
const mostText = 1_000_000

/**
 * Returns the values of the Secrets among objects, in plain form. Values beyond the limits are left
 * out. Pure.
 */
export function valuesOfSecrets(objects: readonly RenderedObject[]): readonly Secret[] {
  const found = new Set<string>()
  let left = mostText
  for (const text of objects.flatMap(textsOf)) {
    if (text.length > longest || text.length > left || found.has(text)) continue
    found.add(text)
    left -= text.length
  }
  return [...found].map((text) => new Secret(text))
}

function textsOf({ kind, ...object }: RenderedObject): string[] {
  if (kind !== 'Secret') return []
  const decoded = stringsOf(object['data']).map((text) => Buffer.from(text, 'base64').toString())
  return [...stringsOf(object['stringData']), ...decoded].filter((text) => text !== '')
}

const stringsOf = (value: unknown): string[] =>
  Object.values(Object(value)).filter((text): text is string => typeof text === 'string')
