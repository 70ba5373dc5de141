import { AppError, type ErrorCode } from '../lib/error.ts'
import { endedConnection } from './driver-socket.ts'

/** The error for a caller by PostgreSQL's code (SQLSTATE). */
const answers: readonly { readonly codes: RegExp; readonly code: ErrorCode; readonly message: string }[] = [
  { codes: /^(22021|22P05)$/, code: 'invalid', message: 'A text has a character that cannot be stored (U+0000).' },
  { codes: /^22P02$/, code: 'invalid', message: 'A value does not have the form of its field.' },
  { codes: /^(22003|22008)$/, code: 'invalid', message: 'A number or a time is out of range.' },
  { codes: /^23505$/, code: 'conflict', message: 'Another object with these unique values already exists.' },
  {
    codes: /^23503$/,
    code: 'conflict',
    message: 'A referenced object no longer exists, or is still in use.',
  },
  { codes: /^(40001|40P01)$/, code: 'unavailable', message: 'Too many changes were made at the same time. Try again.' },
  { codes: /^(57014|55P03)$/, code: 'unavailable', message: 'The database took too long. Try again.' },
  {
    codes: /^(28...|3D000)$/,
    code: 'unavailable',
    message: 'The database rejects the connection: check user, password and database name of QUAYSIDE_DATABASE_URL.',
  },
  {
    codes:
      /^(08...|57P0[1-5]|53...|25006|58030|CONNECTION_(CLOSED|DESTROYED|ENDED)|CONNECT_TIMEOUT|ERR_SOCKET_CLOSED|ERR_STREAM_DESTROYED|E(AGAIN|CONNREFUSED|CONNRESET|PIPE|NOENT|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/,
    code: 'unavailable',
    message: 'The database cannot be reached at the moment. Try again.',
  },
]

/**
 * Converts an error of the driver into one for the caller. Undefined for a bug or an error from
 * elsewhere. `details` contains the code and the names of table and constraint, never values. After
 * an `unavailable` from a lost connection it is unknown whether the statement took effect.
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

/** Whether PostgreSQL aborted it in favour of another transaction. A retry may succeed. */
export const isRetryable = (error: unknown): boolean =>
  isDriversError(error) && /^40(001|P01)$/.test(codeOf(error) ?? '')

/** The same for an error that may be wrapped: checks its causes too. */
export const gaveWay = (error: unknown): boolean =>
  isRetryable(error) || (error instanceof Error && error.cause !== undefined && gaveWay(error.cause))

/** Returns the name of the violated constraint: unique index, foreign key or check. */
export const violatedConstraint = (error: unknown): string | undefined =>
  isDriversError(error) && codeOf(error)?.startsWith('23') ? textOf(error, 'constraint_name') : undefined

const isDriversError = (error: unknown): boolean => error instanceof Error && error.name === 'PostgresError'

/**
 * Whether a row with the same unique values already exists. `violatedConstraint` names the
 * constraint.
 */
export const isUniqueViolation = (error: unknown): boolean => isDriversError(error) && codeOf(error) === '23505'

/**
 * An error of a socket to the database. The driver adds the query's text to every error of a query.
 */
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error &&
  (codeOf(error)?.startsWith('CONNECT') === true || 'query' in error || endedConnection(error))

const codeOf = (error: unknown): string | undefined => textOf(error, 'code')

function textOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof Error)) return undefined
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' ? value : undefined
}
