import assert from 'node:assert/strict'
import { copyFile, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { createIssuerKeys } from '../../server/accounts/issuer-keys.ts'
import { createRecordAdapter } from '../../server/accounts/record-adapter.ts'
import { openDatabase } from '../../server/database/index.ts'
import { testDatabase } from '../../server/database/testing.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { run } from '../../server/lib/run.ts'
import { openVault, readMasterKey, type Vault } from '../../server/vault/index.ts'
import { keyDirectory } from '../../server/vault/testing.ts'

const root = join(import.meta.dirname, '..', '..')
const organizations = [newId(), newId(), newId()]
const cell = { table: 'variable', row: 'r', column: 'sealed_value' }
const database = await testDatabase({ after })
const file = join(await keyDirectory({ after }), 'master.key')

const start = (masterKeyFile = file): Promise<Vault> => openVault({ database: database.sql, masterKeyFile, log })

const sealed = await fill()

/** Gives the sealed texts of the organizations. */
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

/** The command as an operator gives it, on this database and key file. */
async function rotate(failpoint = ''): Promise<{ exitCode: number; said: string }> {
  const { exitCode, stdout, stderr } = await run(process.execPath, [join(root, 'server/rotate-key.ts')], {
    cwd: root,
    env: {
      QUAYSIDE_DATA: dirname(file),
      QUAYSIDE_DATABASE_URL: database.url,
      QUAYSIDE_MASTER_KEY_FILE: file,
      QUAYSIDE_FAILPOINT: failpoint,
    },
    timeoutMs: 120_000,
  })
  return { exitCode: exitCode ?? -1, said: `${stdout}${stderr}` }
}

/** Every secret can be read by what the key file holds now. */
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

/** Rows of any table that hold something sealed by this key. */
async function sealedBy(keyId: string): Promise<string[]> {
  const { sql } = database
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await sql`select 1 from ${sql(name)} t where strpos(t::text, ${`v1.${keyId}.`}) > 0 limit 1`
      return rows.length > 0 ? [name] : []
    }),
  )
  return found.flat().sort()
}

const holders = ['issuer_key', 'issuer_record', 'organization', 'setting']

test('the master key is exchanged: all can be read, nothing is sealed by the former key, which opens nothing', async () => {
  const former = await readMasterKey(file)
  const copy = `${file}.copy`
  await copyFile(file, copy)
  assert.deepEqual(await sealedBy(former.id), holders)
  const { exitCode, said } = await rotate()
  assert.equal(exitCode, 0, said)
  const key = await readMasterKey(file)
  assert.notEqual(key.id, former.id)
  assert.deepEqual([await sealedBy(former.id), await sealedBy(key.id)], [[], holders])
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
  test(`an exchange that is killed at ${point} loses nothing, and the next ${goesOn} goes on`, async () => {
    const former = await readMasterKey(file)
    const { exitCode } = await rotate(`${point}:kill`)
    assert.notEqual(exitCode, 0)
    if (goesOn === 'command') {
      const { exitCode: again, said } = await rotate()
      assert.equal(again, 0, said)
    }
    await assertReadable()
    assert.notEqual((await readMasterKey(file)).id, former.id)
    assert.deepEqual(await sealedBy(former.id), [])
    assert.deepEqual(await readdir(dirname(file)).then((names) => names.filter((name) => name.endsWith('.next'))), [])
  })
}

test('is refused while a server uses the database, and where a row cannot be opened; then nothing changes', async () => {
  const { sql } = database
  const before = await readFile(file, 'utf8')
  const server = openDatabase({ url: database.url, max: 1 })
  await server`select`
  const refused = await rotate()
  await server.end()
  assert.match(refused.said, /A server uses this database\. Stop it/)
  const [organization] = organizations
  await sql`update organization set data_key = 'v1.AAAAAAAAAAA.' || substr(data_key, 16) where id = ${organization ?? ''}`
  const damaged = await rotate()
  assert.match(damaged.said, new RegExp(`organization\\.data_key of ${organization} cannot be opened`))
  assert.deepEqual([refused.exitCode, damaged.exitCode], [1, 1])
  assert.equal(await readFile(file, 'utf8'), before)
  assert.equal((await sealedBy((await readMasterKey(file)).id)).length, holders.length)
})
