import { parseDocument } from 'yaml'

/**
 * Returns why a string is not a mapping in plain YAML 1.2, or undefined if it is. Program tags,
 * aliases and duplicate keys are not allowed.
 */
export function yamlProblem(text: string): string | undefined {
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, prettyErrors: false })
  const error = document.errors[0] ?? document.warnings[0]
  if (error) return `is not plain YAML: ${error.message.replace(/\.$/, '')}`
  try {
    const value: unknown = document.toJS({ maxAliasCount: 0 })
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'must be a YAML mapping'
  } catch {
    return 'must not have aliases'
  }
}

/** Returns the content of mappings in YAML that have no problem. */
export const yamlMappings = (texts: readonly string[]): Readonly<Record<string, unknown>>[] =>
  texts.map((text) => Object(parseDocument(text, { version: '1.2', schema: 'core' }).toJS({ maxAliasCount: 0 })))

/** A string of a request, with the name of its field. */
export interface NamedText {
  readonly field: string
  readonly text: string
}

/**
 * Returns the first problem among these strings, without a full stop. Runs in a worker, because
 * reading YAML may take time quadratic in its length.
 */
export function yamlProblemOf(texts: readonly NamedText[]): string | undefined {
  for (const { field, text } of texts) {
    const problem = yamlProblem(text)
    if (problem) return `${field} ${problem}`
  }
  return undefined
}
