import { AppError, type ErrorCode } from '../lib/error.ts'
import { endedConnection } from './driver-socket.ts'

/** What a caller is told for a condition that PostgreSQL reports by its code (SQLSTATE). */
const answers: readonly { readonly codes: RegExp; readonly code: ErrorCode; readonly message: string }[] = [
  { codes: /^(22021|22P05)$/, code: 'invalid', message: 'A text has a character that cannot be stored (U+0000).' },
  { codes: /^22P02$/, code: 'invalid', message: 'A value does not have the form that its field needs.' },
  { codes: /^(22003|22008)$/, code: 'invalid', message: 'A number or a time is out of range.' },
  { codes: /^23505$/, code: 'conflict', message: 'Something with these unique values exists already.' },
  {
    codes: /^23503$/,
    code: 'conflict',
    message: 'Something that this refers to does not exist any more, or is still in use.',
  },
  { codes: /^(40001|40P01)$/, code: 'unavailable', message: 'Too many changes were made at the same time. Try again.' },
  { codes: /^(57014|55P03)$/, code: 'unavailable', message: 'The database took too long. Try again.' },
  {
    codes: /^(28...|3D000)$/,
    code: 'unavailable',
    message: 'The database refuses the connection: check user, password and database name of QUAYSIDE_DATABASE_URL.',
  },
  {
    codes:
      /^(08...|57P0[1-5]|53...|25006|58030|CONNECTION_(CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|ERR_SOCKET_CLOSED|ERR_STREAM_DESTROYED|E(AGAIN|CONNREFUSED|CONNRESET|PIPE|NOENT|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/,
    code: 'unavailable',
    message: 'The database cannot be reached at the moment. Try again.',
  },
]

/**
 * What the driver threw as the failure that the caller is told; undefined where it is a bug, or not the database's. `details` has
 * the code and the names of table and constraint, never values. An `unavailable` that comes from a lost connection leaves open
 * whether the statement took effect.
 */
export function databaseErrorToAppError(error: unknown): AppError | undefined {
  const code = codeOf(error)
  const answer = answers.find(({ codes }) => code !== undefined && codes.test(code))
  if (!answer || !(isDriversError(error) || isConnectionError(error))) return undefined
  return new AppError(answer.code, answer.message, {
    cause: error,
    details: { code, constraint: textOf(error, 'constraint_name'), table: textOf(error, 'table_name') },
  })
}

/** PostgreSQL gave way to another transaction: the same may succeed now. */
export const isRetryable = (error: unknown): boolean =>
  isDriversError(error) && /^40(001|P01)$/.test(codeOf(error) ?? '')

/** The same of an error that may have been given other words: one of its causes says so. */
export const gaveWay = (error: unknown): boolean =>
  isRetryable(error) || (error instanceof Error && error.cause !== undefined && gaveWay(error.cause))

/** The name of the constraint that was violated: unique index, foreign key or check. */
export const violatedConstraint = (error: unknown): string | undefined =>
  isDriversError(error) && codeOf(error)?.startsWith('23') ? textOf(error, 'constraint_name') : undefined

const isDriversError = (error: unknown): boolean => error instanceof Error && error.name === 'PostgresError'

/** Whether a row with the same unique values exists already. `violatedConstraint` tells which values. */
export const isUniqueViolation = (error: unknown): boolean => isDriversError(error) && codeOf(error) === '23505'

/** Of a socket to the database. The driver marks every error of a query with the query's text. */
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  (codeOf(error)?.startsWith('CONNECT') === true || 'query' in error || endedConnection(error))

const codeOf = (error: unknown): string | undefined => textOf(error, 'code')

function textOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}
