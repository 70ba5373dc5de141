import assert from 'node:assert/strict'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { createIssuerKeys } from '../../server/accounts/issuer-keys.ts'
import { createRecordAdapter, payloadCell } from '../../server/accounts/record-adapter.ts'
import { saveRecord } from '../../server/accounts/record-store.ts'
import { exclusiveLock, inTransaction, openDatabase } from '../../server/database/index.ts'
import { testDatabase } from '../../server/database/testing.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { run } from '../../server/lib/run.ts'
import { openVault, readMasterKey, serverSession, type Vault } from '../../server/vault/index.ts'
import { keyDirectory } from '../../server/vault/testing.ts'
import { holdersOf } from '../support/sealed-texts.ts'
import { until } from '../support/until.ts'

const root = join(import.meta.dirname, '..', '..')
const organizations = [newId(), newId(), newId()]
const cell = { table: 'variable', row: 'r', column: 'sealed_value' }
const database = await testDatabase({ after })
const file = join(await keyDirectory({ after }), 'master.key')

const start = (masterKeyFile = file): Promise<Vault> => openVault({ database: database.sql, masterKeyFile, log })

const sealed = await fill()

/** Returns the sealed values of the organizations. */
async function fill(): Promise<string[]> {
  const { sql } = database
  for (const id of organizations)
    await sql`insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${id})`
  const vault = await start()
  const texts = await Promise.all(organizations.map((id) => vault.seal(sql, id, cell, `text of ${id}`)))
  await createIssuerKeys({ database: sql, vault, clock }).privateKeys()
  await createRecordAdapter({ database: sql, vault, clock })('Session').upsert('one', { uid: 'u' }, 3600)
  return texts
}

/** Runs the command as an operator does, on this database and key file. */
async function rotate(failpoint = '', ...args: string[]): Promise<{ exitCode: number; said: string }> {
  const { exitCode, stdout, stderr } = await run(
    process.execPath,
    [join(root, 'server/start/rotate-key.ts'), ...args],
    {
      cwd: root,
      env: {
        QUAYSIDE_DATA: dirname(file),
        QUAYSIDE_DATABASE_URL: database.url,
        QUAYSIDE_MASTER_KEY_FILE: file,
        QUAYSIDE_FAILPOINT: failpoint,
      },
      timeoutMs: 120_000,
    },
  )
  return { exitCode: exitCode ?? -1, said: `${stdout}${stderr}` }
}

/** Asserts that the current key file opens every secret. */
async function assertReadable(): Promise<void> {
  const { sql } = database
  const vault = await start()
  assert.deepEqual(vault.state, { open: true })
  for (const [index, id] of organizations.entries())
    assert.equal((await vault.open(sql, id, cell, sealed[index] ?? '')).reveal(), `text of ${id}`)
  const [key] = await createIssuerKeys({ database: sql, vault, clock }).privateKeys()
  assert.equal(typeof key.d, 'string')
  assert.equal((await createRecordAdapter({ database: sql, vault, clock })('Session').find('one'))?.uid, 'u')
}

const holders = ['data_key', 'issuer_key', 'issuer_record', 'setting']

test('the master key is replaced: everything opens, nothing uses the previous key, and that key opens nothing', async () => {
  const former = await readMasterKey(file)
  const copy = `${file}.copy`
  await copyFile(file, copy)
  assert.deepEqual(await holdersOf(database.sql, former.id), holders)
  const { exitCode, said } = await rotate()
  assert.equal(exitCode, 0, said)
  const key = await readMasterKey(file)
  assert.notEqual(key.id, former.id)
  assert.deepEqual([await holdersOf(database.sql, former.id), await holdersOf(database.sql, key.id)], [[], holders])
  assert.ok(!said.includes(key.bytes.toString('base64url')))
  await assertReadable()
  assert.equal((await start(copy)).state.open, false)
})

for (const [point, goesOn] of [
  ['key.made', 'command'],
  ['key.sealing', 'command'],
  ['key.sealed', 'command'],
  ['key.sealed', 'server'],
  ['key.replaced', 'command'],
] as const) {
  test(`an exchange that is killed at ${point} loses nothing, and the next ${goesOn} completes it`, async () => {
    const former = await readMasterKey(file)
    const { exitCode } = await rotate(`${point}:kill`)
    assert.notEqual(exitCode, 0)
    if (goesOn === 'command') {
      const { exitCode: again, said } = await rotate()
      assert.equal(again, 0, said)
    }
    await assertReadable()
    assert.notEqual((await readMasterKey(file)).id, former.id)
    assert.deepEqual(await holdersOf(database.sql, former.id), [])
    assert.deepEqual(await readdir(dirname(file)).then((names) => names.filter((name) => name.endsWith('.next'))), [])
  })
}

/**
 * Uses the master key in every way that a server does. It opens everything sealed before and seals
 * more.
 */
async function work(vault: Vault): Promise<void> {
  const { sql } = database
  const [id, uid] = [newId(), newId()]
  await sql`insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${id})`
  const own = await inTransaction(sql, (within) => vault.seal(within, id, cell, id))
  assert.equal((await vault.open(sql, id, cell, own)).reveal(), id)
  const records = createRecordAdapter({ database: sql, vault, clock })('Session')
  await records.upsert(uid, { uid }, 3600)
  for (const one of ['one', uid]) assert.equal((await records.find(one))?.uid, one === 'one' ? 'u' : uid)
  const [key] = await createIssuerKeys({ database: sql, vault, clock }).privateKeys()
  assert.equal(typeof key.d, 'string')
  for (const [index, organization] of organizations.entries())
    assert.equal((await vault.open(sql, organization, cell, sealed[index] ?? '')).reveal(), `text of ${organization}`)
}

/**
 * Starts a server as the command sees it: with the lock of the data directory, sessions of that
 * name, and the key in memory.
 */
async function startServer(t: TestContext, name = serverSession(file)): Promise<Vault> {
  const lock = await exclusiveLock(`data ${dirname(file)}`)
  assert.ok(lock)
  const pool = openDatabase({ url: database.url, max: 1, name })
  await pool`select`
  t.after(async () => {
    lock.close()
    await pool.end()
  })
  return start()
}

for (const point of ['', 'key.sealing', 'key.sealed']) {
  const killed = point === '' ? 'is exchanged' : `is exchanged by a command that is killed at ${point}`
  test(`a running server continues while its master key ${killed}`, async (t) => {
    const running = await startServer(t)
    const former = await readMasterKey(file)
    await work(running)
    const { exitCode, said } = await rotate(point && `${point}:kill`)
    assert.equal(exitCode === 0, point === '', said)
    await work(running)
    // The next command completes the interrupted one, and the server follows it, too.
    if (point !== '') assert.equal((await rotate()).exitCode, 0)
    assert.deepEqual(await holdersOf(database.sql, former.id), [])
    assert.deepEqual(
      (await readdir(dirname(file))).filter((name) => name.endsWith('.next')),
      [],
    )
    await work(running)
    await work(await start())
  })
}

const late = {
  model: 'Session',
  id_hash: 'late',
  uid: 'late',
  grant_id: null,
  user_code_hash: null,
  account_id: null,
  expires_at: null,
}
const waiting = () => database.sql`
  select from pg_stat_activity where datname = current_database() and application_name = 'quayside key exchange'
    and wait_event_type = 'Lock'`

test('a server about to seal with the master key waits for an exchange and uses the new key', async (t) => {
  const running = await startServer(t)
  const former = await readMasterKey(file)
  const [sealing, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const records = createRecordAdapter({ database: database.sql, vault: running, clock })('Session')
  const before = inTransaction(database.sql, async (sql) => {
    const sealed_payload = await running.sealOwn(sql, payloadCell('Session', 'late'), '{"uid":"late"}')
    sealing.resolve()
    await commit.promise
    await saveRecord(sql, { ...late, sealed_payload })
  })
  await sealing.promise
  const rotating = rotate()
  await until('the command waits', async () => (await waiting()).length > 0)
  const after = records.upsert('after', { uid: 'after' }, 3600)
  commit.resolve()
  await Promise.all([before, after])
  assert.equal((await rotating).exitCode, 0)
  assert.deepEqual(await holdersOf(database.sql, former.id), [])
  for (const uid of ['late', 'after']) assert.equal((await records.findByUid(uid))?.uid, uid)
})

test('the command starts a rotation of the keys of all organizations', async (t) => {
  await startServer(t)
  const { sql } = database
  const [count] = await sql<{ all: number }[]>`select count(*) as all from organization`
  const { said } = await rotate('', '--organizations')
  assert.match(said, new RegExp(`New keys seal the secrets of ${count?.all} organizations\\. The keys of 0 more`))
  const rows = await sql`select from workflow where kind = 'key-rotation' and state = 'queued'`
  assert.equal(rows.length, count?.all)
  assert.match(
    (await rotate('', '--organizations')).said,
    new RegExp(`of 0 organizations\\. The keys of ${count?.all} more`),
  )
  assert.match((await rotate('', '--other')).said, /There is no option --other/)
  await assertReadable()
})

test('an exchange changes nothing if another server uses the database or a row cannot be opened', async () => {
  const { sql } = database
  const before = await readFile(file, 'utf8')
  const server = openDatabase({ url: database.url, max: 1, name: serverSession(`${file}.other`) })
  await server`select`
  const refused = await rotate()
  await server.end()
  assert.match(refused.said, /A server uses this database that does not follow the file/)
  const [organization] = organizations
  await sql`
    update data_key set wrapped_key = 'v1.AAAAAAAAAAA.' || substr(wrapped_key, 16)
    where organization_id = ${organization ?? ''}`
  const damaged = await rotate()
  assert.match(damaged.said, new RegExp(`organization\\.data_key of ${organization} cannot be opened`))
  assert.deepEqual([refused.exitCode, damaged.exitCode], [1, 1])
  assert.equal(await readFile(file, 'utf8'), before)
  assert.equal((await holdersOf(sql, (await readMasterKey(file)).id)).length, holders.length)
})
