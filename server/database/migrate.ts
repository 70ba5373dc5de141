import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import type { Database, Sql } from './database.ts'

export interface Migration {
  /** The file's name, for example 0001_initial.sql. Their order is the order of the migrations. */
  readonly name: string
  readonly text: string
}

interface Applied {
  readonly name: string
  readonly checksum: string
}

const directory = new URL('migrations/', import.meta.url)
/** The key of the advisory lock: an arbitrary number, the same in every version. */
const lockKey = 6_830_113_544

/** The migrations of this version, in order. */
export async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(new URL(name, directory), 'utf8') })))
}

/** Equal texts have equal checksums. */
export const checksumOf = (migration: Migration): string => createHash('sha256').update(migration.text).digest('hex')

/**
 * Returns the migrations to apply. Throws AppError `unavailable` if the database does not fit this
 * version: its schema is newer, or a migration was changed or inserted after later ones had been
 * applied.
 */
export function pendingMigrations(
  known: readonly Migration[],
  applied: readonly Applied[],
  where: string,
): Migration[] {
  const unknown = applied.filter(({ name }) => !known.some((migration) => migration.name === name))
  if (unknown.length > 0) {
    throw refusal(
      `${where} was used by a newer Quayside: its schema has ${unknown.map(({ name }) => name).join(', ')}, ` +
        'which this version does not know. Start the newer version again, or point QUAYSIDE_DATABASE_URL or ' +
        'QUAYSIDE_DATA at another database or data directory.',
    )
  }
  const checksums = new Map(applied.map(({ name, checksum }) => [name, checksum]))
  const changed = known.find((one) => checksums.has(one.name) && checksums.get(one.name) !== checksumOf(one))
  if (changed) {
    throw refusal(
      `The migration ${changed.name} was changed after it had been applied to ${where}. Put the file back as ` +
        'it was, and make the change in a new migration; or start with an empty database.',
    )
  }
  const pending = known.filter(({ name }) => !checksums.has(name))
  const last = known.findLast(({ name }) => checksums.has(name))
  const late = pending.find(({ name }) => last !== undefined && name < last.name)
  if (late) {
    throw refusal(
      `The migration ${late.name} is missing in ${where}, where the later ${last?.name} was already applied. ` +
        'Give it a later number.',
    )
  }
  return pending
}

const refusal = (message: string): AppError => new AppError('unavailable', message)

/**
 * Returns the names of a database's migrations, and of those that `migrate` would apply. Throws
 * like `pendingMigrations`.
 */
export async function schemaState(
  db: Database,
  migrations?: readonly Migration[],
): Promise<{ readonly applied: string[]; readonly pending: string[] }> {
  const where = await checkServer(db)
  const [table] = await db<{ there: boolean }[]>`select to_regclass('schema_migration') is not null as there`
  const applied = table?.there ? await db<Applied[]>`select name, checksum from schema_migration order by name` : []
  const pending = pendingMigrations(migrations ?? (await readMigrations()), applied, where)
  return { applied: applied.map(({ name }) => name), pending: pending.map(({ name }) => name) }
}

/**
 * Brings the schema up to date. Each migration runs in its own transaction under an advisory lock,
 * so any number of servers may try at once, and a kill at any moment leaves only complete
 * migrations. Returns the names of the applied ones.
 */
export async function migrate(
  db: Database,
  options: { readonly log: Logger; readonly migrations?: readonly Migration[] },
): Promise<string[]> {
  const known = options.migrations ?? (await readMigrations())
  const where = await checkServer(db)
  const startedAt = clock.monotonic()
  const done: string[] = []
  for (;;) {
    const name = await db.begin((sql) => applyNext(sql, known, where))
    if (name === undefined) break
    options.log.debug({ migration: name }, 'migration was applied')
    done.push(name)
  }
  const ms = Math.round(clock.monotonic() - startedAt)
  if (done.length > 0) options.log.info({ migrations: done.length, newest: done.at(-1), ms }, 'database was migrated')
  return done
}

async function applyNext(sql: Sql, known: readonly Migration[], where: string): Promise<string | undefined> {
  await sql`select set_config('statement_timeout', '0', true)`
  await sql`select pg_advisory_xact_lock(${lockKey})`
  await sql`create table if not exists schema_migration (
    name text primary key,
    checksum text not null,
    applied_at timestamptz not null default now()
  )`
  const applied = await sql<Applied[]>`select name, checksum from schema_migration order by name`
  const [next] = pendingMigrations(known, applied, where)
  if (!next) return undefined
  try {
    await sql.unsafe(next.text)
  } catch (error) {
    throw new Error(`migration ${next.name} failed on ${where}`, { cause: error })
  }
  await sql`insert into schema_migration (name, checksum) values (${next.name}, ${checksumOf(next)})`
  return next.name
}

/** The first version that changes the expression of a generated column, as a migration does. */
const oldestServer = 170_000

/**
 * Rejects a server that is too old, and a database that cannot store every text. Returns the
 * database's name for messages.
 */
async function checkServer(db: Database): Promise<string> {
  const [server] = await db<{ name: string; encoding: string; version: number }[]>`
    select datname as name, pg_encoding_to_char(encoding) as encoding, current_setting('server_version_num')::int as
    version
    from pg_database where datname = current_database()`
  if (!server) throw new Error('the server does not know its own database')
  const where = `the database "${server.name}"`
  if (server.version < oldestServer) {
    throw refusal(
      `PostgreSQL ${Math.floor(server.version / 10_000)} is too old for Quayside: it needs 17 or newer. ` +
        'Point QUAYSIDE_DATABASE_URL at a newer one.',
    )
  }
  if (server.encoding !== 'UTF8') {
    throw refusal(
      `${where} has the encoding ${server.encoding}, which does not keep every text. Create it anew with ` +
        `"encoding 'UTF8' template template0".`,
    )
  }
  return where
}
