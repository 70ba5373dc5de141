import {
  type Static,
  type TArray,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'

export type { Static, TNull, TObject, TProperties, TSchema } from '@sinclair/typebox'
export { Type }

/** The largest number that PostgreSQL's integer and every client store exactly. */
export const maxInteger = 2_147_483_647

export const Uuid = Type.String({ format: 'uuid', maxLength: 36 })
/** A time: `Date` inside the process, an ISO 8601 string on the wire. */
export const Timestamp = Type.Unsafe<Date>({ type: 'string', format: 'date-time' })
export const PlainDate = Type.Unsafe<string>({ type: 'string', format: 'date' })
/** An ISO 8601 duration, `PT1M5S`. */
export const Duration = Type.String({ maxLength: 40 })
export const Text = (maxLength: number, minLength = 0) => Type.String({ maxLength, minLength })
export const Integer = (minimum: number, maximum: number = maxInteger) => Type.Integer({ minimum, maximum })
export const List = <T extends TSchema>(items: T, maxItems = 1000) => Type.Array(items, { maxItems })

/** One of these strings. */
export const Enum = <const V extends readonly string[]>(values: V) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values] })

declare const inner: unique symbol
/** The schema or null. Its type keeps the schema, for `Sent`. */
export type TNullable<T extends TSchema> = TUnsafe<Static<T> | null> & { readonly [inner]: T }

/** The schema or null. The cast adds the part that exists only in the type. */
export function Nullable<T extends TSchema>(schema: T): TNullable<T> {
  const values = Array.isArray(schema['enum']) ? { enum: [...schema['enum'], null] } : {}
  return Type.Unsafe<Static<T> | null>({ ...schema, ...values, type: [schema['type'], 'null'] }) as TNullable<T>
}

declare const defaulted: unique symbol
/** A schema whose value a request may leave out. */
export type TDefaulted<T extends TSchema> = T & { readonly [defaulted]: true }

/**
 * The schema with a default that the server fills in. The cast adds the part that exists only in
 * the type.
 */
export const Defaulted = <T extends TSchema>(schema: T, value: unknown): TDefaulted<T> =>
  ({ ...schema, default: value }) as TDefaulted<T>

type MayBeAbsent = TOptional<TSchema> | TDefaulted<TSchema>
/**
 * The type that a client sends, in which values with a default are optional. `Static` is the type
 * after the server filled them in.
 */
export type Sent<S extends TSchema> =
  S extends TNullable<infer T>
    ? Sent<T> | null
    : S extends TObject<infer P>
      ? { [K in keyof P as P[K] extends MayBeAbsent ? never : K]: Sent<P[K]> } & {
          [K in keyof P as P[K] extends MayBeAbsent ? K : never]?: Sent<P[K]>
        }
      : S extends TArray<infer T>
        ? Sent<T>[]
        : Static<S>

export const Ref = Type.Object({ id: Uuid })
/** The fields of every record. */
export const base = { id: Uuid, created_at: Timestamp, updated_at: Timestamp }
export const Results = <T extends TSchema>(items: T) => Type.Object({ results: Type.Array(items) })
export const Page = <T extends TSchema>(items: T) =>
  Type.Object({ page: Type.Integer(), page_size: Type.Integer(), results: Type.Array(items) })
export const NoBody = Type.Null()

/** The key of the extension mark in schemas and in the OpenAPI document. */
export const extensionMark = 'x-quayside-extension'
/** A query or body field that the public API does not have. */
export const extension = <T extends TSchema>(schema: T): T => ({ ...schema, [extensionMark]: true })

/**
 * The same object with optional properties and without defaults, for a body that changes only the
 * fields it names. The cast states that a schema without its default has the same type.
 */
export function Change<T extends TProperties>(properties: T) {
  const bare = Object.entries(properties).map(([name, { default: _, ...schema }]) => [name, schema])
  return Type.Partial(Type.Object(Object.fromEntries(bare) as T))
}

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    status: Type.Integer({ description: 'the HTTP status' }),
    error: Type.String({ description: 'the reason phrase of the status' }),
    message: Type.String({ description: 'what happened, where, and what to do' }),
    detail: Type.String({ description: 'the same as message' }),
  },
  { $id: 'Error', required: ['status', 'error', 'message', 'detail'] },
)
