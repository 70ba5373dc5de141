import { createHash, randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { silentLogger } from '../lib/log.ts'
import { start } from '../lib/run.ts'
import type { Database } from './database.ts'
import { type EmbeddedDatabase, startEmbedded } from './embedded.ts'
import { exclusively, tryLock } from './exclusive.ts'
import { checksumOf, migrate, readMigrations } from './migrate.ts'
import { openDatabase, type PoolOptions } from './pool.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** One for each checkout and user, because their tests run at the same time. */
export const testDirectory = join(tmpdir(), `quayside-test-${digest(`${import.meta.url} ${process.getuid?.()}`)}`)
/** Held while the shared server is started or ended. */
export const testLock = `tests ${testDirectory}`
/** Held by the process that ends the shared server. */
export const watchdogLock = `watchdog ${testDirectory}`

/** The argument of a test: its context `t`, or `{ after }` of node:test for all tests of a file. */
export interface Cleanup {
  after(work: () => Promise<void>): void
}

export interface TestDatabase {
  readonly sql: Database
  /** For further pools. */
  readonly url: string
}

/**
 * Creates a migrated database and returns a pool on it and its URL. Both end with the test. All
 * test processes of the checkout share the PostgreSQL server, which stops after a minute without
 * use.
 */
export const testDatabase = (t: Cleanup, pool: Pick<PoolOptions, 'onStatement'> = {}): Promise<TestDatabase> =>
  createDatabase(t, async (admin, server) => `template ${await template(admin, server)}`, pool)

/** Creates a database without tables. `options` are those of `create database`. */
export const emptyDatabase = (t: Cleanup, options = ''): Promise<TestDatabase> => createDatabase(t, async () => options)

async function createDatabase(
  t: Cleanup,
  options: (admin: Database, server: EmbeddedDatabase) => Promise<string>,
  pool: Pick<PoolOptions, 'onStatement'> = {},
): Promise<TestDatabase> {
  const { admin, server } = await connect()
  const name = `test_${randomBytes(6).toString('hex')}`
  const url = databaseUrl(server, name)
  const sql = openDatabase({ url, name: 'test', ...pool })
  t.after(async () => {
    await sql.end({ timeout: 1 })
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.end({ timeout: 1 })
  })
  await admin.unsafe(`create database ${name} ${await options(admin, server)}`)
  return { sql, url }
}

const databaseUrl = (server: EmbeddedDatabase, name: string): string => server.url.replace('/postgres?', `/${name}?`)

/**
 * Opens a connection to the shared server and starts the server if necessary. The server runs while
 * the connection is open.
 */
function connect(): Promise<{ admin: Database; server: EmbeddedDatabase }> {
  return exclusively(testLock, async () => {
    const server = await startTestServer().catch(async () => {
      // Without fsync a crash of the machine leaves a broken directory, but its data has no value.
      await rm(testDirectory, { recursive: true, force: true })
      return startTestServer()
    })
    const admin = openDatabase({ url: server.url, max: 1, name: 'test admin', statementTimeoutMs: 60_000 })
    await admin`select`
    await startWatchdog(server.url)
    return { admin, server }
  })
}

/** Returns the tests' server, adopting a running one. */
export const startTestServer = (): Promise<EmbeddedDatabase> =>
  startEmbedded({
    directory: testDirectory,
    log: silentLogger,
    signal: AbortSignal.timeout(60_000),
    sizes: { durable: false, maxConnections: 200, sharedBuffersMb: 64 },
  })

async function startWatchdog(url: string): Promise<void> {
  const lock = await tryLock(watchdogLock)
  if (!lock) return
  lock.close()
  const program = fileURLToPath(new URL('testing-watchdog.ts', import.meta.url))
  start(process.execPath, ['--max-old-space-size=32', program, url], { cwd: '/', stdio: 'ignore' }).unref()
}

/** The name of the migrated database that tests copy, one for each state of the migrations. */
async function template(admin: Database, server: EmbeddedDatabase): Promise<string> {
  const migrations = await readMigrations()
  const name = `template_${digest(migrations.map(checksumOf).join(' '))}`
  if (await exists(admin, name)) return name
  return exclusively(`${testLock} ${name}`, async () => {
    if (await exists(admin, name)) return name
    const unfinished = `${name}_new`
    await admin.unsafe(`drop database if exists ${unfinished} with (force)`)
    await admin.unsafe(`create database ${unfinished}`)
    const db = openDatabase({ url: databaseUrl(server, unfinished), max: 1 })
    await migrate(db, { log: silentLogger, migrations }).finally(() => db.end({ timeout: 1 }))
    await admin.unsafe(`alter database ${unfinished} rename to ${name}`)
    return name
  })
}

async function exists(admin: Database, name: string): Promise<boolean> {
  const rows = await admin`select from pg_database where datname = ${name}`
  return rows.length > 0
}
