import { AppError } from '../lib/error.ts'
import { ForeignJsonProblem, parseFar } from '../lib/foreign-json.ts'
import { type Body, HclError, literal, parseHcl } from './hcl.ts'

/** A `variable` block. */
export interface VariableDefinition {
  readonly key: string
  readonly sensitive: boolean
  readonly nullable: boolean
  /** A string without its quotes, any other value as written. Null if there is none. */
  readonly default: string | null
  readonly source: string
  readonly description: string | null
}

/**
 * Returns the variables that a file declares. `source` is its path. Throws AppError `invalid` with
 * file and line.
 */
export function readVariableDefinitions(source: string, text: string): VariableDefinition[] {
  if (source.endsWith('.json')) return ofJson(source, text)
  return parsed(source, () => parseHcl(text)).blocks.flatMap((block) => {
    const [key] = block.labels
    if (block.type !== 'variable' || key === undefined) return []
    return [{ key, source, ...fieldsOf((name) => valueAt(block, name)) }]
  })
}

/** Returns the values that a .tfvars file sets: strings without quotes, other values as written. */
export function readAssignments(source: string, text: string): Record<string, string> {
  if (source.endsWith('.json')) {
    return Object.fromEntries(
      entriesOf(parsed(source, () => parseFar(Buffer.from(text)))).map(([key, value]) => [key, ofValue(value)]),
    )
  }
  const { attributes } = parsed(source, () => parseHcl(text))
  return Object.fromEntries([...attributes].map(([key, expression]) => [key, literal(expression)]))
}

const valueAt = ({ attributes }: Body, name: string): string | undefined => {
  const expression = attributes.get(name)
  return expression === undefined || expression === 'null' ? undefined : literal(expression)
}

const fieldsOf = (read: (name: string) => string | undefined) => ({
  sensitive: read('sensitive') === 'true',
  nullable: read('nullable') !== 'false',
  default: read('default') ?? null,
  description: read('description') ?? null,
})

function ofJson(source: string, text: string): VariableDefinition[] {
  const whole: unknown = parsed(source, () => parseFar(Buffer.from(text)))
  return entriesOf(Object(whole).variable).map(([key, given]) => {
    const block: unknown = Array.isArray(given) ? given[0] : given
    const read = (name: string): string | undefined => {
      const value: unknown = Object(block)[name]
      return value === undefined || value === null ? undefined : ofValue(value)
    }
    return { key, source, ...fieldsOf(read) }
  })
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
const ofValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function parsed<T>(source: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof HclError) && !(cause instanceof ForeignJsonProblem)) throw cause
    const what = cause instanceof HclError ? cause.message : `it ${cause.message}`
    throw new AppError('invalid', `The file "${source}" cannot be read: ${what}.`, { cause })
  }
}
