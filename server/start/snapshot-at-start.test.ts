import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { type Config, readConfig } from '../config.ts'
import { type Database, listSnapshots, migrate, openDatabase, startEmbedded } from '../database/index.ts'
import { readMigrations } from '../database/migrate.ts'
import { emptyDatabase } from '../database/testing.ts'
import { silentLogger as log } from '../lib/log.ts'
import { run } from '../lib/run.ts'
import { openSchema, startDatabase } from './data-directory.ts'
import { nextRecord } from './platform-version.ts'

type Cleanup = Parameters<typeof emptyDatabase>[0]

const signal = AbortSignal.timeout(110_000)
const migrations = await readMigrations()
const former = migrations.filter(({ name }) => name < '0030')
const names = (of: typeof migrations): string[] => of.map(({ name }) => name)
const copy = (from: string, to: string) => run('cp', ['--archive', from, to], { timeoutMs: 60_000 })

async function emptyDirectory(t: Cleanup): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'quayside-snapshot-'))
  await chmod(path, 0o711)
  t.after(() => rm(path, { recursive: true, force: true }))
  return path
}

async function inDatabase<T>(dataDirectory: string, work: (sql: Database) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ directory: join(dataDirectory, 'postgresql'), log, signal })
  const sql = openDatabase({ url: embedded.url, max: 1 })
  return work(sql).finally(async () => {
    await sql.end()
    await embedded.stop()
  })
}

const pattern = await emptyDirectory({ after })
await inDatabase(pattern, async (sql) => {
  await migrate(sql, { log, migrations: former })
  await sql`insert into setting (key, value) values ('instance', ${sql.json('kept')})`
})

/** A data directory of an older version. */
async function olderData(t: Cleanup) {
  const dataDirectory = await emptyDirectory(t)
  await copy(join(pattern, 'postgresql'), join(dataDirectory, 'postgresql'))
  const config = readConfig({ QUAYSIDE_DATA: dataDirectory })
  return { dataDirectory, config, snapshots: join(dataDirectory, 'snapshots') }
}

/** Migrates to the current schema as a server does at its start, and stops. */
async function start(config: Config): Promise<unknown> {
  await using started = new AsyncDisposableStack()
  const database = await openSchema(await startDatabase(config, log, signal, started), log, started)
  const [row] = await database`select value from setting where key = 'instance'`
  return row?.['value']
}

const applied = (dataDirectory: string): Promise<string[]> =>
  inDatabase(dataDirectory, async (sql) =>
    (await sql`select name from schema_migration order by name`).map(({ name }) => name),
  )

test('a start with pending migrations takes a snapshot of the old database first; the next start takes none', async (t) => {
  const { config, snapshots, dataDirectory } = await olderData(t)
  assert.equal(await start(config), 'kept')
  assert.equal(await start(config), 'kept')
  const [snapshot, ...more] = await listSnapshots(snapshots)
  assert.ok(snapshot)
  assert.deepEqual([snapshot.migrations, more], [names(former), []])
  assert.deepEqual([...snapshot.migrations, ...snapshot.pending], names(migrations))
  assert.match(snapshot.before.version, /^\d+\.\d+\.\d+$/)
  assert.match(snapshot.name, /^\d{8}T\d{6}Z-0029_leaving_replicas$/)
  const cluster = join(dataDirectory, 'postgresql', 'cluster')
  await rm(cluster, { recursive: true })
  await copy(join(snapshots, snapshot.name, 'cluster'), cluster)
  assert.deepEqual(await applied(dataDirectory), names(former))
})

test('a migration that fails again and again leaves the snapshot from before the first attempt', async (t) => {
  const { config, snapshots, dataDirectory } = await olderData(t)
  // Makes 0031 fail. 0030 is applied before it.
  await inDatabase(dataDirectory, async (sql) => {
    await sql`create function job_state(uuid, text) returns text language sql return 'in the way'`
  })
  const fails = () => assert.rejects(start(config), /0031_running_jobs\.sql failed/)
  await fails()
  const [first] = await listSnapshots(snapshots)
  await fails()
  await fails()
  const left = await listSnapshots(snapshots)
  assert.equal(left[0]?.name, first?.name)
  assert.deepEqual(
    left.map((snapshot) => snapshot.migrations.length),
    [former.length, former.length + 1],
  )
})

test('a start that is killed while it takes a snapshot leaves none that counts, and the next start takes it', async (t) => {
  const { config, snapshots, dataDirectory } = await olderData(t)
  const program = `
    import { readConfig } from '../config.ts'
    import { startDatabase } from './data-directory.ts'
    import { armFailpoints } from '../lib/failpoint.ts'
    import { silentLogger } from '../lib/log.ts'
    armFailpoints('snapshot.copied:kill')
    const config = readConfig({ QUAYSIDE_DATA: '${dataDirectory}' })
    await startDatabase(config, silentLogger, new AbortController().signal, new AsyncDisposableStack())`
  const args = ['--input-type=module', '--eval', program]
  const { exitCode, stderr } = await run(process.execPath, args, { cwd: import.meta.dirname, timeoutMs: 60_000 })
  assert.equal(exitCode, 137, stderr)
  assert.deepEqual([(await readdir(snapshots)).length, await listSnapshots(snapshots)], [1, []])
  assert.equal(await start(config), 'kept')
  const whole = await listSnapshots(snapshots)
  assert.equal(whole.length, 1)
  assert.deepEqual(
    await readdir(snapshots),
    whole.map(({ name }) => name),
  )
})

test('a start without space for a snapshot is rejected before a change, unless a setting allows it', async (t) => {
  const { config, snapshots, dataDirectory } = await olderData(t)
  // A file system without free space, on every machine.
  await symlink('/proc', snapshots)
  await assert.rejects(start(config), /no room for a snapshot.*MiB more must be free.*QUAYSIDE_SNAPSHOT=off/)
  assert.deepEqual(await applied(dataDirectory), names(former))
  assert.equal(await start({ ...config, snapshots: false }), 'kept')
})

test('a database that is not ours is migrated only where the settings say that no snapshot is wanted', async (t) => {
  const { sql, url } = await emptyDatabase(t)
  const config = readConfig({ QUAYSIDE_DATA: '/nonexistent', QUAYSIDE_DATABASE_URL: url })
  await migrate(sql, { log, migrations: former })
  await sql`insert into setting (key, value) values ('instance', ${sql.json('kept')})`
  await assert.rejects(
    start(config),
    /0030_.* would change the database of QUAYSIDE_DATABASE_URL.*Make a backup, and.*QUAYSIDE_SNAPSHOT=off/,
  )
  await start({ ...config, snapshots: false })
  assert.equal((await sql`select from schema_migration`).length, migrations.length)
  // No migration is pending.
  await start(config)
})

test('a first start whose migrations were interrupted continues in a database that is not ours', async (t) => {
  const { sql, url } = await emptyDatabase(t)
  await migrate(sql, { log, migrations: former })
  await start(readConfig({ QUAYSIDE_DATA: '/nonexistent', QUAYSIDE_DATABASE_URL: url }))
  assert.equal((await sql`select from schema_migration`).length, migrations.length)
})

test('the previous version is stored beside the current one', () => {
  const now = new Date('2026-05-04T09:12:31.031Z')
  const since = now.toISOString()
  const first = nextRecord(undefined, { version: '1', commit: 'a' }, now)
  assert.deepEqual(first, { version: '1', commit: 'a', since, former: null })
  assert.equal(nextRecord(first, { version: '1', commit: 'a' }, now), undefined)
  assert.deepEqual(nextRecord(first, { version: '1', commit: 'b' }, now), {
    version: '1',
    commit: 'b',
    since,
    former: { version: '1', commit: 'a' },
  })
})
