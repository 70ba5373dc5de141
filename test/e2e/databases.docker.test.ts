import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Static } from '@quayside/contract'
import type { Backup } from '@quayside/contract/resources/backup.ts'
import { openDatabase } from '../../server/database/index.ts'
import { makeEnvironment } from '../support/application.ts'
import { makeClient, makeDatabase, type TestDatabase, type TestService } from '../support/database.ts'
import { provideDatabaseImages, tagsOf } from '../support/database-images.ts'
import { connects, containerAddress } from '../support/reach.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

type BackupReply = Static<typeof Backup>

// A PostgreSQL from creation to deletion: it is used through its variables, published, changed,
// stopped and erased. The tests build on each other.

let server: ServerProcess
let database: TestDatabase
let client: TestService
let stranger: TestService
let key: (name: string) => string

before(
  async () => {
    await provideDatabaseImages('postgresql')
    server = await startServer()
    const [shop, other] = [await makeEnvironment(server, 'shop'), await makeEnvironment(server, 'other')]
    database = await makeDatabase(server, shop, 'postgresql')
    client = await makeClient(server, shop, 'postgresql')
    stranger = await makeClient(server, other, 'postgresql')
    key = (name) => `QOVERY_POSTGRESQL_Z${database.id.slice(0, 8).toUpperCase()}_${name}`
    for (const environment of [shop, other]) await server.must('POST', `/environment/${environment}/deploy`)
    for (const service of [database, client, stranger]) {
      const { state, reason } = await service.settles()
      assert.deepEqual({ state, reason }, { state: 'DEPLOYED', reason: null })
    }
  },
  { timeout: 600_000 },
)
after(() => server?.close())

/** Returns what psql prints in a container. A shell there expands the address. */
const ask = async (from: TestService, address: string, statement: string, connectSeconds = 30) => {
  const command = `PGCONNECT_TIMEOUT=${connectSeconds} psql "${address}" --no-psqlrc --no-align --tuples-only --command="$0"`
  const { exitCode, output } = await from.exec('sh', '-c', command, statement)
  return { exitCode, output: output.trim() }
}
/** Returns what psql prints on this machine. */
async function namesAt(address: string): Promise<string[]> {
  const sql = openDatabase({ url: address, max: 1, name: 'test' })
  const found = await sql<{ name: string }[]>`select name from orders order by id`.finally(() => sql.end())
  return found.map(({ name }) => name)
}
const url = (): string => `$${key('DATABASE_URL_INTERNAL')}`
const rows = async () => (await ask(client, url(), "select string_agg(name, ' ' order by id) from orders")).output

test('services of its environment reach a database by their variables', async () => {
  const made = await ask(
    client,
    url(),
    "create table orders (id serial, name text); insert into orders (name) values ('one')",
  )
  assert.equal(made.exitCode, 0, made.output)
  const parts = `postgresql://$${key('LOGIN')}:$${key('PASSWORD')}@$${key('HOST_INTERNAL')}:$${key('PORT')}/$${key('DEFAULT_DATABASE_NAME')}`
  assert.deepEqual(await ask(client, parts, 'select name from orders'), { exitCode: 0, output: 'one' })
  const { login, password } = await database.credentials()
  const wrong = await ask(client, `postgresql://${login}:not-${password}@$${key('HOST_INTERNAL')}/postgres`, 'select 1')
  assert.match(wrong.output, /password authentication failed/)
})

test('services of other environments cannot reach a database, even with its credentials', async () => {
  const { host, login, password } = await database.credentials()
  const byName = await ask(stranger, `postgresql://${login}:${password}@${host}/postgres`, 'select 1')
  assert.match(byName.output, /could not translate host name/)
  const address = await containerAddress(server, database.id)
  const byAddress = await ask(stranger, `postgresql://${login}:${password}@${address}/postgres`, 'select 1', 3)
  assert.match(byAddress.output, /timeout expired|No route to host|Connection refused/)
})

test('a database made public, larger and of another minor version keeps its data and answers on a machine port', async () => {
  const { host } = await database.record()
  const version = (await tagsOf('postgres:15')).at(-1)
  assert.ok(version?.startsWith('15.'), `${version}`)
  assert.equal((await database.edit({ accessibility: 'PUBLIC', storage: 20, version })).status, 200)
  const { host: outside, port } = await database.record()
  assert.equal(outside, 'localhost')
  assert.notEqual(host, outside)
  assert.equal(await connects(port), false)
  await database.acts('deploy')
  const { login, password, ...told } = await database.credentials()
  assert.deepEqual(told, { host: outside, port })
  assert.deepEqual(await namesAt(`postgres://${login}:${password}@127.0.0.1:${port}/postgres`), ['one'])
  await database.acts('restart-service')
  assert.equal((await database.record()).port, port)
  assert.deepEqual(await namesAt(`postgres://${login}:${password}@127.0.0.1:${port}/postgres`), ['one'])
  assert.equal(await rows(), 'one')
})

test('a database made private no longer answers on the machine', async () => {
  const { port } = await database.record()
  assert.equal((await database.edit({ accessibility: 'PRIVATE' })).status, 200)
  assert.equal(await connects(port), true)
  await database.acts('deploy')
  assert.equal(await connects(port), false)
  assert.equal((await database.record()).port, 5432)
})

test('a change that the data does not allow is refused', async () => {
  const major = await database.edit({ version: '16' })
  assert.equal(major.status, 409)
  assert.match(major.message, /^version: "postgresql" has data of PostgreSQL 15.*dump and restore/)
  const smaller = await database.edit({ storage: 10 })
  assert.equal(smaller.status, 409)
  assert.match(smaller.message, /^storage: the database has 20 GB and cannot shrink/)
})

const toldOf = async (id: string): Promise<BackupReply> => {
  const { results } = await server.must<{ results: BackupReply[] }>('GET', `${database.path}/backup`)
  return results.find((one) => one.id === id) ?? assert.fail('the backup is missing')
}
const ends = (what: string, isOver: () => Promise<boolean>) => until(`the ${what} has ended`, isOver)
const restores = async (id: string) => {
  await server.must('POST', `${database.path}/backup/${id}/restore`)
  await ends('restore', async () => (await toldOf(id)).restore.state !== 'RUNNING')
  return (await toldOf(id)).restore
}
let backup: BackupReply

test('a backup is proven by a database that starts on it, and a restore brings the rows back', async () => {
  const { id } = await server.must<BackupReply>('POST', `${database.path}/backup`, { name: 'of one row' })
  await ends('proof', async () => /PROVEN|FAILED/.test(`${(await toldOf(id)).proof.state}`))
  backup = await toldOf(id)
  assert.equal(
    backup.proof.message,
    'Every file of it was restored on the side and compared, and the database became healthy on it.',
  )
  assert.equal((await ask(client, url(), "insert into orders (name) values ('two')")).exitCode, 0)
  assert.equal(await rows(), 'one two')
  const { state, message } = await restores(id)
  assert.deepEqual([state, message], ['SUCCEEDED', 'Its volumes are those of the backup.'])
  await database.settles()
  assert.equal(await rows(), 'one')
})

test('a backup whose file was changed fails its proof and changes nothing', async () => {
  const file = join(server.dataDirectory, 'backups', server.organizationId, database.id, `${backup.id}-1.qsb`)
  const bytes = await readFile(file)
  const middle = Math.floor(bytes.length / 2)
  await writeFile(file, bytes.fill((bytes[middle] ?? 0) ^ 1, middle, middle + 1))
  await server.must('POST', `${database.path}/backup/${backup.id}/prove`)
  await ends('proof', async () => (await toldOf(backup.id)).proof.state === 'FAILED')
  assert.match(`${(await toldOf(backup.id)).proof.message}`, /is damaged/)
  const { state, message } = await restores(backup.id)
  assert.deepEqual([state, /Its data were not touched/.test(`${message}`)], ['FAILED', true], `${message}`)
  assert.equal(await rows(), 'one')
  // A proof of the backup from before the restore may still run. It must end, too.
  const own = `quayside.instance=${server.instance}`
  await until('no temporary volumes are left', async () => (await server.engine.volumesWith(own)).length === 1)
  const environments = await server.sql<{ id: string }[]>`select id::text from environment`
  const networks = (await server.engine.networksWith(own)).map(({ Labels }) => Labels?.['quayside.environment'] ?? '')
  assert.deepEqual(
    networks.filter((id) => !environments.some((one) => one.id === id)),
    [],
  )
})

test('a database stops in order, keeps its data, and loses it when it is uninstalled', async () => {
  await database.acts('stop', 'STOPPED')
  await database.acts('deploy')
  assert.equal(await rows(), 'one')
  const log = await database.printed()
  assert.match(log, /database system was shut down at/)
  assert.doesNotMatch(log, /was interrupted|automatic recovery/)
  const volume = `quayside.service=${database.id}`
  assert.equal((await server.engine.volumesWith(volume)).length, 1)
  await server.must('POST', `${database.path}/uninstall`)
  await database.settles()
  assert.deepEqual(await server.engine.volumesWith(volume), [])
  assert.equal((await database.edit({ version: '16', storage: 10 })).status, 200)
})
