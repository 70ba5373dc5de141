import { parseDocument } from 'yaml'

/**
 * Why a text is not a mapping in plain YAML 1.2; undefined where it is. No tags of programs, no
 * aliases, no key twice.
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

/** A text of a request, by the name of its field. */
export interface NamedText {
  readonly field: string
  readonly text: string
}

/**
 * The first problem among these, as a sentence without its full stop. Runs in a worker: reading
 * YAML may take the square of its length.
 */
export function yamlProblemOf(texts: readonly NamedText[]): string | undefined {
  for (const { field, text } of texts) {
    const problem = yamlProblem(text)
    if (problem) return `${field} ${problem}`
  }
  return undefined
}
