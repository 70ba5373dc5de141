import assert from 'node:assert/strict'
import { access, chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readConfig } from '../config.ts'
import { type Database, listSnapshots, migrate, openDatabase, startEmbedded } from '../database/index.ts'
import { readMigrations } from '../database/migrate.ts'
import { silentLogger as log } from '../lib/log.ts'
import { run } from '../lib/run.ts'
import { openSchema, startDatabase } from './data-directory.ts'

const signal = AbortSignal.timeout(110_000)
const former = (await readMigrations()).filter(({ name }) => name < '0030')
const dataDirectory = await mkdtemp(join(tmpdir(), 'quayside-way-back-'))
await chmod(dataDirectory, 0o711)
after(() => rm(dataDirectory, { recursive: true, force: true }))
const config = readConfig({ QUAYSIDE_DATA: dataDirectory })
const snapshots = join(dataDirectory, 'snapshots')
const mark = join(dataDirectory, 'rollback.json')

const add = (sql: Database, key: string) => sql`insert into setting (key, value) values (${key}, '1')`
const keys = async (sql: Database): Promise<string[]> =>
  (await sql`select key from setting order by key`).map(({ key }) => key)

async function inDatabase<T>(work: (sql: Database) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ directory: join(dataDirectory, 'postgresql'), log, signal })
  const sql = openDatabase({ url: embedded.url, max: 1 })
  return work(sql).finally(async () => {
    await sql.end()
    await embedded.stop()
  })
}

/** A start of the current version. */
async function start(work: (sql: Database) => Promise<unknown> = async () => {}): Promise<void> {
  await using started = new AsyncDisposableStack()
  await work(await openSchema(await startDatabase(config, log, signal, started), log, started))
}

/** The database part of the command, back to the version that knows these migrations. */
async function goBack(migrations = former, failpoint = ''): Promise<{ exitCode: number; said: string }> {
  const args = [join(import.meta.dirname, 'restore-snapshot.ts'), 'c0ffee', ...migrations.map(({ name }) => name)]
  const env = { QUAYSIDE_DATA: dataDirectory, QUAYSIDE_FAILPOINT: failpoint }
  const { exitCode, stdout, stderr } = await run(process.execPath, args, { env, timeoutMs: 60_000 })
  return { exitCode, said: `${stdout}${stderr}` }
}

await inDatabase(async (sql) => {
  await migrate(sql, { log, migrations: former })
  await add(sql, 'before')
})
await start((sql) => add(sql, 'newer'))

test('without a snapshot of that schema, or with another master key, nothing is rolled back or changed', async () => {
  const none = await goBack(former.slice(0, -1))
  assert.match(none.said, /None of the snapshots in .* has the schema that ends with .*Nothing was changed/)
  const [snapshot] = await listSnapshots(snapshots)
  const file = join(snapshots, snapshot?.name ?? '', 'snapshot.json')
  const record = await readFile(file, 'utf8')
  await writeFile(file, record.replace('"master_key": null', '"master_key": "former"'))
  const sealed = await goBack()
  await writeFile(file, record)
  assert.match(sealed.said, /taken under the master key former; .* holds none\. Nothing was changed/)
  assert.deepEqual([none.exitCode, sealed.exitCode], [1, 1])
  await start(async (sql) => assert.deepEqual(await keys(sql), ['before', 'newer']))
})

test('a rollback that is killed without a database prevents starts, and the next one continues it', async () => {
  assert.equal((await goBack(former, 'rollback.aside:kill')).exitCode, 137)
  await assert.rejects(access(join(dataDirectory, 'postgresql', 'cluster')), { code: 'ENOENT' })
  await assert.rejects(start(), /rollback of the upgrade was interrupted.*npm run rollback-upgrade/)
  const { exitCode, said } = await goBack()
  assert.equal(exitCode, 0, said)
  await rm(mark)
  await inDatabase(async (sql) => assert.deepEqual(await keys(sql), ['before']))
  const [, aside = ''] = /kept in (\S+)\. Delete/.exec(said) ?? []
  assert.match(await readFile(join(aside, 'PG_VERSION'), 'utf8'), /^\d+/)
  assert.match((await goBack()).said, /already has the schema of that version, and is unchanged/)
})
