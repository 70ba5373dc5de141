import postgres from 'postgres'
import { newId } from '../lib/id.ts'
import { arrayTypes } from './array-types.ts'
import type { Database } from './database.ts'
import { connectSocket } from './driver-socket.ts'
import { beginInTurn, currentOwner, divideByOwner, shareConnections } from './owners.ts'
import { TransactionGuard } from './transaction-guard.ts'
import { withUnits } from './unit-of-work.ts'
import { withWholeResults } from './whole-results.ts'

export interface PoolOptions {
  /** `postgres://user:password@host:port/database`; a unix socket's directory is the parameter `host`, as for libpq. */
  readonly url: string
  /** Connections at most, beside those that owners share. Few are enough: each takes many queries at a time. */
  readonly max?: number
  /** How the connections call themselves in pg_stat_activity. */
  readonly name?: string
  /** After this PostgreSQL ends a statement; 0 = never. */
  readonly statementTimeoutMs?: number
  /** Is told of every statement that is sent, with its parameters: for tests and measurements. */
  readonly onStatement?: (text: string, parameters: readonly unknown[]) => void
}

/**
 * A pool of connections, made when they are needed and again after they broke. `bigint` comes as number (an error beyond 2^53),
 * `timestamptz` as Date, `jsonb` parsed; `undefined` as a value is an error. While PostgreSQL is away a query fails within
 * seconds; see `databaseErrorToAppError`. `end()` waits a second for what is still running, unless `timeout` (seconds) is given.
 */
export function openDatabase(options: PoolOptions): Database {
  const open = (max: number): Database => connectGuarded({ ...options, max })
  // Units of work hold a connection for as long as a request takes, so they have connections of their own.
  const [statements, units] = [shareConnections(open), shareConnections(open)]
  const database = divideByOwner(connectGuarded(options), statements, units)
  return withUnits(database, (work, owner = currentOwner() ?? newId()) => beginInTurn(units, owner, work))
}

function connectGuarded(options: PoolOptions): Database {
  const guard = new TransactionGuard()
  const db = connect(options, { onclose: () => guard.connectionClosed() })
  const { begin: driversBegin, end: driversEnd } = db
  return Object.assign(db, {
    // without a limit the driver waits for ever for a connection that was closed by the server
    end: (limit?: { timeout?: number }) => driversEnd({ timeout: limit?.timeout ?? endTimeoutSeconds }),
    begin: (first: string | Work, second?: Work) =>
      typeof first === 'string' && second
        ? guard.begin(driversBegin, first, second)
        : guard.begin(driversBegin, '', first as Work), // the driver's other form: without options
  })
}

const endTimeoutSeconds = 1
type Work = (sql: postgres.TransactionSql) => unknown

/** What the driver calls; `onnotify` is missing in its types. */
export interface Hooks {
  readonly onclose: () => void
  readonly onnotify?: (channel: string, payload: string) => void
  /** Instead of `connectSocket`, which it has to call. */
  readonly socket?: typeof connectSocket
}

/** The driver's pool, as all of this room use it. Its own `begin` is not safe: see TransactionGuard. */
export function connect(options: PoolOptions, hooks: Hooks): Database {
  const { url, socket } = splitUrl(options.url)
  const { onStatement } = options
  const settings = {
    max: options.max ?? 4,
    ...(socket === undefined ? {} : { host: socket }),
    socket: connectSocket,
    connect_timeout: 4,
    // at once: queries that wait for a connection each need one failed attempt before they can be answered
    backoff: () => 0,
    idle_timeout: 0,
    max_lifetime: null,
    connection: {
      application_name: options.name ?? 'quayside',
      statement_timeout: options.statementTimeoutMs ?? 30_000,
      TimeZone: 'UTC',
      // The best plan of our statements does not depend on their values; otherwise those with arrays are planned at every call.
      plan_cache_mode: 'force_generic_plan',
    },
    fetch_types: false,
    types: { bigint, ...arrayTypes },
    onnotice: () => {},
    ...(onStatement && { debug: (_: number, text: string, values: unknown[]) => onStatement(text, values) }),
    ...hooks,
  }
  // the driver's type of a pool names its `types`, which only this file needs
  return withWholeResults(postgres(url, settings) as unknown as Database)
}

/** `?host=/directory` is libpq's way to name a socket; the driver would send it to the server as a setting. */
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
