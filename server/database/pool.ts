import postgres from 'postgres'
import { newId } from '../lib/id.ts'
import { currentOwner } from '../lib/owner.ts'
import { arrayTypes } from './array-types.ts'
import type { Database } from './database.ts'
import { connectSocket } from './driver-socket.ts'
import { divideByOwner, ownedConnections } from './owned-statements.ts'
import { beginInTurn, shareConnections } from './owners.ts'
import { renewable } from './renewal.ts'
import { TransactionGuard } from './transaction-guard.ts'
import { withUnits } from './unit-of-work.ts'
import { withWholeResults } from './whole-results.ts'

export interface PoolOptions {
  /**
   * `postgres://user:password@host:port/database`. For a unix socket the parameter `host` is its
   * directory, as in libpq.
   */
  readonly url: string
  /**
   * Maximum number of connections, beside those that owners share. A few are enough, because each
   * pipelines queries.
   */
  readonly max?: number
  /** The name of the connections in pg_stat_activity. */
  readonly name?: string
  /** Milliseconds after which PostgreSQL ends a statement. 0 means never. */
  readonly statementTimeoutMs?: number
  /** Called with every sent statement and its parameters, for tests and measurements. */
  readonly onStatement?: (text: string, parameters: readonly unknown[]) => void
}

/**
 * Returns a pool of connections, which are opened on demand and again after a loss. It returns
 * `bigint` as number (an error beyond 2^53), `timestamptz` as Date and `jsonb` parsed. `undefined`
 * as a value is an error. While PostgreSQL is unreachable a query fails within seconds; see
 * `databaseErrorToAppError`. `end()` waits a second for running statements, unless `timeout`
 * (seconds) is set.
 */
export function openDatabase(options: PoolOptions): Database {
  const renewals: (() => void)[] = []
  const open = (max?: number): Database => {
    const { pool, renew } = renewable(() => connectGuarded(max === undefined ? options : { ...options, max }))
    renewals.push(renew)
    return pool
  }
  // Units of work hold a connection for as long as a request takes, so they have their own
  // connections.
  const [statements, units] = [ownedConnections(open), shareConnections(open)]
  const divided = divideByOwner(open(), statements, units)
  const database = withUnits(divided, (work, owner = currentOwner() ?? newId()) => beginInTurn(units, owner, work))
  renewalsOf.set(database, renewals)
  return database
}

const renewalsOf = new WeakMap<Database, readonly (() => void)[]>()

/**
 * Replaces the connections of a pool as soon as they are idle, to return memory: the process of a
 * connection keeps plans and tables of every statement that it has executed, about 10 MB after a
 * deployment, until the connection is closed. No statement fails or is sent twice.
 */
export function renewConnections(database: Database): void {
  for (const renew of renewalsOf.get(database) ?? []) renew()
}

function connectGuarded(options: PoolOptions): Database {
  const guard = new TransactionGuard()
  const db = connect(options, { onclose: () => guard.connectionClosed() })
  const { begin: driversBegin, end: driversEnd } = db
  return Object.assign(db, {
    // Without a limit the driver waits forever for a connection that the server closed.
    end: (limit?: { timeout?: number }) => driversEnd({ timeout: limit?.timeout ?? endTimeoutSeconds }),
    begin: (first: string | Work, second?: Work) =>
      typeof first === 'string' && second
        ? guard.begin(driversBegin, first, second)
        : guard.begin(driversBegin, '', first as Work), // the driver's other form: without options
  })
}

const endTimeoutSeconds = 1
type Work = (sql: postgres.TransactionSql) => unknown

/** The driver's callbacks. `onnotify` is missing in its types. */
export interface Hooks {
  readonly onclose: () => void
  readonly onnotify?: (channel: string, payload: string) => void
  /** Replaces `connectSocket`, which it must call. */
  readonly socket?: typeof connectSocket
}

/** Opens the driver's pool for this room. Its own `begin` is not safe: see TransactionGuard. */
export function connect(options: PoolOptions, hooks: Hooks): Database {
  const { url, socket } = splitUrl(options.url)
  const { onStatement } = options
  const settings = {
    max: options.max ?? 4,
    ...(socket === undefined ? {} : { host: socket }),
    socket: connectSocket,
    connect_timeout: 4,
    // At once, because each waiting query needs one failed attempt before it can be answered.
    backoff: () => 0,
    idle_timeout: 0,
    max_lifetime: null,
    connection: {
      application_name: options.name ?? 'quayside',
      statement_timeout: options.statementTimeoutMs ?? 30_000,
      TimeZone: 'UTC',
      // The best plan of our statements does not depend on their values. Otherwise statements with
      // arrays are planned on every call.
      plan_cache_mode: 'force_generic_plan',
    },
    fetch_types: false,
    types: { bigint, ...arrayTypes },
    onnotice: () => {},
    ...(onStatement && { debug: (_: number, text: string, values: unknown[]) => onStatement(text, values) }),
    ...hooks,
  }
  // The driver's type of a pool contains its `types`, which only this file needs.
  return withWholeResults(postgres(url, settings) as unknown as Database)
}

/**
 * libpq writes a socket as `?host=/directory`. The driver would send that to the server as a
 * setting.
 */
export function splitUrl(text: string): { url: string; socket: string | undefined } {
  const url = new URL(text)
  const socket = url.searchParams.get('host') ?? undefined
  url.searchParams.delete('host')
  return { url: url.href, socket }
}

const bigint = {
  to: 20,
  from: [20],
  serialize: (value: number | bigint): string => String(value),
  parse: (text: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value)) throw new Error(`the bigint ${text} is too large for a number`)
    return value
  },
}
