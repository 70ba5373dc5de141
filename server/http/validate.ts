import type { TSchema } from '@quayside/contract/schema.ts'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { AppError } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'

const options = {
  allErrors: false,
  removeAdditional: 'all',
  useDefaults: true,
  strict: false,
  ownProperties: true,
} as const
const bodies = withFormats(new Ajv(options))
/**
 * The validator of queries. It reads numbers and booleans from strings. A repeated name is a list,
 * which is rejected.
 */
const queries = withFormats(new Ajv({ ...options, coerceTypes: true }))

function withFormats(ajv: Ajv): Ajv {
  ajv.addFormat('uuid', (text) => parseId(text) !== undefined)
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDateTime(`${text}T00:00:00Z`))
  ajv.addFormat('uri', (text) => URL.canParse(text))
  return ajv
}

const dateTime =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-4]):[0-5]\d)$/

/** Whether a text is an existing RFC 3339 date and time of the years 1970 to 9999. */
export function isDateTime(text: string): boolean {
  const [, year = '', month = '', day = ''] = dateTime.exec(text) ?? []
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  return Number(year) >= 1970 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}

export type Validate = (value: unknown) => unknown

/** Compiles a schema on first use. Most servers never use most operations. */
function compiler(ajv: Ajv, schema: TSchema): () => ValidateFunction {
  let validate: ValidateFunction | undefined
  return () => {
    validate ??= ajv.compile(schema)
    return validate
  }
}

/**
 * Creates the validator of a body. It fills in defaults and drops unknown members. Throws
 * AppError('invalid') that names the field.
 */
export function bodyValidator(schema: TSchema): Validate {
  const validate = compiler(bodies, schema)
  return (value) => checked(validate(), value, 'The body')
}

/** Creates the validator of a query, with the same rules. */
export function queryValidator(schema: TSchema): Validate {
  const validate = compiler(queries, schema)
  return (value) => {
    for (const [name, given] of Object.entries(value ?? {})) {
      if (typeof given !== 'string') throw new AppError('invalid', `${name} must be given once.`)
      if (given.trim() !== given || given === '') throw new AppError('invalid', `${name} must not be empty.`)
    }
    return checked(validate(), { ...(value ?? {}) }, 'The query')
  }
}

function checked(validate: ValidateFunction, value: unknown, whole: string): unknown {
  if (validate(value)) return value
  throw new AppError('invalid', describe(validate.errors ?? [], whole))
}

/** Describes the first error: `ports[1].internal_port must be ≥ 1.` */
export function describe(errors: readonly ErrorObject[], whole: string): string {
  const error = errors[0]
  if (!error) return `${whole} is not valid.`
  const field = fieldName(error.instancePath)
  const at = (name: string): string => (field === '' ? name : `${field}.${name}`)
  const { params, keyword, message } = error
  if (keyword === 'required') return `${at(String(params['missingProperty']))} is required.`
  const subject = field === '' ? whole : field
  return `${subject} ${sentences[keyword]?.(params) ?? message ?? 'is not valid'}.`
}

const sentences: Record<string, (params: Record<string, unknown>) => string> = {
  type: ({ type }) => `must be ${typeWords(type)}`,
  minimum: ({ limit }) => `must be ≥ ${limit}`,
  maximum: ({ limit }) => `must be ≤ ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => `must have at least ${limit} entries`,
  maxItems: ({ limit }) => `must have at most ${limit} entries`,
  enum: ({ allowedValues }) =>
    `must be one of ${[allowedValues]
      .flat()
      .filter((value) => value !== null)
      .join(', ')}`,
  format: ({ format }) => `must be a valid ${format}`,
}

const typeNames: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}
const typeWords = (type: unknown): string =>
  [type]
    .flat()
    .map((name) => typeNames[String(name)] ?? String(name))
    .join(' or ')

/** Converts `/ports/1/internal_port` to `ports[1].internal_port`. */
function fieldName(instancePath: string): string {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
