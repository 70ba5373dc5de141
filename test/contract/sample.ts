/**
 * Values that a schema accepts, and values that it must reject. Both derive from the schema alone.
 */

/** The part of JSON Schema that the contract uses. */
export type Schema = Partial<{
  readonly type: string | readonly string[] | undefined
  readonly properties: Readonly<Record<string, Schema>> | undefined
  readonly required: readonly string[] | undefined
  readonly items: Schema | undefined
  readonly enum: readonly unknown[] | undefined
  readonly anyOf: readonly Schema[] | undefined
  readonly format: string | undefined
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly minItems: number | undefined
  readonly maxItems: number | undefined
  readonly default: unknown
}>

export type Path = readonly (string | number)[]

/** One change that makes a good value invalid. The error must name `field`. */
export interface Violation {
  readonly what: string
  readonly path: Path
  readonly field: string
  /** Undefined: the member is omitted. */
  readonly value: unknown
}

const typesOf = ({ type }: Schema): string[] => [type ?? []].flat()
const mainType = (schema: Schema): string | undefined => typesOf(schema).find((type) => type !== 'null')
const plain = (schema: Schema): Schema => schema.anyOf?.[0] ?? schema
const isNullable = (schema: Schema): boolean =>
  typesOf(schema).includes('null') || (schema.anyOf ?? []).some((choice) => typesOf(choice).includes('null'))

const texts: Record<string, string> = {
  uuid: '0190a000-0000-7000-8000-00000000abcd',
  'date-time': '2090-01-01T00:00:00Z',
  date: '2090-01-01',
}

/** Returns a value that the schema accepts, with every property. */
export function sampleOf(given: Schema): unknown {
  const schema = plain(given)
  if (schema.enum) return schema.enum[0]
  switch (mainType(schema)) {
    case 'string':
      return texts[schema.format ?? ''] ?? 'x'.repeat(Math.max(1, schema.minLength ?? 0))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return schema.items ? Array(Math.max(1, schema.minItems ?? 1)).fill(sampleOf(schema.items)) : []
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, property]) => [name, sampleOf(property)]),
      )
    default:
      return null
  }
}

/** Returns the value with one member changed. */
export function withChange(value: unknown, path: Path, change: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined) return change
  if (Array.isArray(value)) return value.map((item, index) => (index === first ? withChange(item, rest, change) : item))
  const { [first]: before, ...others } = Object(value)
  const after = withChange(before, rest, change)
  return after === undefined ? others : { ...others, [first]: after }
}

const wrong: Record<string, unknown> = {
  string: 7,
  integer: 'seven',
  number: 'seven',
  boolean: 'yes',
  array: 'list',
  object: 'thing',
}

export const fieldName = (path: Path): string =>
  path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('')

/**
 * Yields every way in which a member, also a nested one, can violate the schema. The value as a
 * whole is not changed.
 */
export function* violationsOf(given: Schema, path: Path = []): Generator<Violation> {
  const schema = plain(given)
  if (path.length > 0) yield* ownViolations(schema, isNullable(given), path)
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const inner = [...path, name]
    if (schema.required?.includes(name) && !('default' in property)) {
      yield { what: 'missing', path: inner, field: fieldName(inner), value: undefined }
    }
    yield* violationsOf(property, inner)
  }
  if (schema.items) yield* violationsOf(schema.items, [...path, 0])
}

function* ownViolations(schema: Schema, nullable: boolean, path: Path): Generator<Violation> {
  const bad = (what: string, value: unknown): Violation => ({ what, path, field: fieldName(path), value })
  const type = mainType(schema) ?? ''
  yield bad('of the wrong type', wrong[type])
  if (!nullable) yield bad('null', null)
  if (schema.enum) yield bad('an unknown value', 'NO_SUCH_VALUE')
  if (schema.maxLength !== undefined) yield bad('too long', 'x'.repeat(schema.maxLength + 1))
  if (schema.minLength) yield bad('too short', 'x'.repeat(schema.minLength - 1))
  if (schema.format) yield bad('of another format', 'not of that format')
  if (schema.minimum !== undefined) yield bad('too small', schema.minimum - 1)
  if (schema.maximum !== undefined) yield bad('too large', schema.maximum + 1)
  if (type === 'integer') yield bad('a fraction', (schema.minimum ?? 0) + 0.5)
  if (schema.maxItems !== undefined && schema.items) {
    yield bad('too many', Array.from({ length: schema.maxItems + 1 }).fill(sampleOf(schema.items)))
  }
  if (schema.minItems) yield bad('too few', [])
}

/** Yields the innermost members of a schema with their paths; of a list only its first item. */
export function* leavesOf(given: Schema, path: Path = []): Generator<{ readonly path: Path; readonly schema: Schema }> {
  const schema = plain(given)
  if (schema.properties) {
    for (const [name, property] of Object.entries(schema.properties)) yield* leavesOf(property, [...path, name])
  } else if (mainType(schema) === 'array' && schema.items) yield* leavesOf(schema.items, [...path, 0])
  else if (path.length > 0) yield { path, schema }
}

/** Returns the member of a value at a path; undefined if a part of the path is missing. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, part) => Object(inner)[part], value)

const otherTexts: Record<string, readonly string[]> = {
  '': ['changed', '/changed', 'https://changed.example.com', '1.2', 'Europe/Paris', '0 5 * * *', 'b: 2'],
  'date-time': ['2091-01-01T00:00:00.000Z'],
  date: ['2091-01-01'],
}

/**
 * Returns values that the schema accepts and that differ from the present one. A rule besides the
 * schema may still reject some.
 */
export function otherValues(schema: Schema, present: unknown): unknown[] {
  const type = mainType(schema)
  const { minimum = 0, maximum } = schema
  const values =
    schema.enum ??
    (type === 'boolean' ? [true, false] : undefined) ??
    (type === 'integer' || type === 'number' ? [Number(present ?? 0) + 1, minimum, minimum + 1, maximum] : undefined) ??
    (type === 'string' ? (otherTexts[schema.format ?? ''] ?? []) : [])
  return values.filter((value) => value !== undefined && value !== null && value !== present)
}
