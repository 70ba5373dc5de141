import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { SealError } from '../lib/seal.ts'
import { KeyFileError, type KeyFileFailure, makeKeyFile } from './key-file.ts'
import { openPepper } from './pepper.ts'
import { keyDirectory } from './testing.ts'
import { openVault, readMasterKey, type Vault } from './vault.ts'

const database = (await testDatabase({ after })).sql
const root = await keyDirectory({ after })
let directory: string
let masterKeyFile: string
const cell = { table: 'variable', row: 'r', column: 'sealed_value' }
const fails = (reason: KeyFileFailure) => (error: unknown) =>
  error instanceof KeyFileError && error.reason === reason && error.message.includes(error.file)
const isSealed = (error: unknown): boolean =>
  error instanceof AppError && error.code === 'sealed' && error.message.includes('QUAYSIDE_MASTER_KEY_FILE')
const startVault = (file = masterKeyFile): Promise<Vault> =>
  openVault({ database, masterKeyFile: file, log: silentLogger })

async function addOrganization(): Promise<string> {
  const id = newId()
  await database`
    insert into organization (id, created_at, updated_at, name) values (${id}, now(), now(), ${id})`
  return id
}

beforeEach(async () => {
  directory = join(root, newId())
  await mkdir(directory)
  masterKeyFile = join(directory, 'keys/master.key')
  await database`truncate setting`
  await database`delete from organization`
})

describe('first start', () => {
  test('creates the master key for its owner only, and opens', async () => {
    const vault = await startVault()
    assert.deepEqual(vault.state, { open: true })
    assert.equal((await stat(masterKeyFile)).mode & 0o777, 0o600)
    assert.match(await readFile(masterKeyFile, 'utf8'), /^quayside master key, version 1\n[\w-]{43}\n$/)
    assert.deepEqual(await readdir(join(directory, 'keys')), ['master.key'])
  })

  test('agrees on one key when two servers start at once', async () => {
    const organization = await addOrganization()
    const [one, two] = await Promise.all([startVault(), startVault()])
    const sealed = await one.seal(database, organization, cell, 'text')
    assert.equal((await two.open(database, organization, cell, sealed)).reveal(), 'text')
  })

  test('uses a key file that the operator created before', async () => {
    const bytes = await makeKeyFile(masterKeyFile, 'master key')
    assert.deepEqual((await startVault()).state, { open: true })
    assert.deepEqual((await readMasterKey(masterKeyFile)).bytes, bytes)
  })

  test('never overwrites a file', async () => {
    await makeKeyFile(masterKeyFile, 'master key')
    const before = await readFile(masterKeyFile, 'utf8')
    await assert.rejects(makeKeyFile(masterKeyFile, 'master key'), KeyFileError)
    assert.equal(await readFile(masterKeyFile, 'utf8'), before)
    assert.deepEqual(await readdir(join(directory, 'keys')), ['master.key'])
  })
})

describe('a later start', () => {
  test('opens texts that the previous process sealed', async () => {
    const organization = await addOrganization()
    const sealed = await (await startVault()).seal(database, organization, cell, 'text')
    const opened = await (await startVault()).open(database, organization, cell, sealed)
    assert.equal(opened.reveal(), 'text')
  })

  test('stays sealed without the key file, and creates none', async () => {
    const organization = await addOrganization()
    const sealed = await (await startVault()).seal(database, organization, cell, 'text')
    const elsewhere = join(directory, 'elsewhere')
    const vault = await startVault(elsewhere)
    assert.equal(vault.state.open, false)
    await assert.rejects(vault.seal(database, organization, cell, 'text'), isSealed)
    await assert.rejects(vault.open(database, organization, cell, sealed), isSealed)
    await assert.rejects(stat(elsewhere), { code: 'ENOENT' })
  })

  test('stays sealed with another key, and changes neither file nor database', async () => {
    await startVault()
    const other = join(directory, 'other.key')
    await makeKeyFile(other, 'master key')
    const [file, rows] = [await readFile(other, 'utf8'), await database`select * from setting`]
    const vault = await startVault(other)
    assert.ok(!vault.state.open && vault.state.reason.includes(other))
    assert.deepEqual([await readFile(other, 'utf8'), await database`select * from setting`], [file, rows])
    assert.deepEqual((await startVault()).state, { open: true })
  })

  test('stays sealed with a damaged file, also at the first start', async () => {
    const file = join(directory, 'damaged.key')
    await writeFile(file, 'quayside master key, version 1\nshort\n')
    assert.equal((await startVault(file)).state.open, false)
    assert.equal((await database`select * from setting`).length, 0)
    assert.equal(await readFile(file, 'utf8'), 'quayside master key, version 1\nshort\n')
  })

  test('makes no new key where data keys tell of a lost one', async () => {
    const organization = await addOrganization()
    await database`insert into data_key values (${organization}, 1, 'wrapped')`
    assert.equal((await startVault()).state.open, false)
    await assert.rejects(stat(masterKeyFile), { code: 'ENOENT' })
  })
})

describe('reading the master key', () => {
  test('reports what is wrong with the file', async () => {
    const file = join(directory, 'some.key')
    await assert.rejects(readMasterKey(file), fails('missing'))
    await assert.rejects(readMasterKey(directory), fails('unreadable'))
    const key = 'A'.repeat(43)
    const texts = [
      '',
      '\n',
      key,
      `quayside token pepper, version 1\n${key}\n`,
      `quayside master key, version 2\n${key}\n`,
    ]
    for (const text of [
      ...texts,
      `quayside master key, version 1\n${key}A\n`,
      `quayside master key, version 1\n${key}\nmore\n`,
    ]) {
      await writeFile(file, text)
      await assert.rejects(readMasterKey(file), fails('damaged'), text)
    }
  })

  test('accepts line ends of another system and a wider mode', async () => {
    const file = join(directory, 'some.key')
    await writeFile(file, `quayside master key, version 1\r\n${'A'.repeat(43)}\r\n`)
    await chmod(file, 0o644)
    assert.equal((await readMasterKey(file)).bytes.length, 32)
  })
})

describe('data keys', () => {
  test('each organization has its own, and a text moved to another organization cannot be opened', async () => {
    const [one, two] = [await addOrganization(), await addOrganization()]
    const vault = await startVault()
    const sealed = await vault.seal(database, one, cell, 'text')
    await vault.seal(database, two, cell, 'text')
    await assert.rejects(vault.open(database, two, cell, sealed), SealError)
    await assert.rejects(vault.open(database, one, { ...cell, row: 'other' }, sealed), SealError)
  })

  test('a data key moved to another organization opens nothing', async () => {
    const [one, two] = [await addOrganization(), await addOrganization()]
    const vault = await startVault()
    const sealed = await vault.seal(database, one, cell, 'text')
    await database`
      insert into data_key select ${two}, number, wrapped_key from data_key where organization_id = ${one}`
    await assert.rejects(vault.open(database, two, cell, sealed), SealError)
  })

  test('fifty concurrent first uses create one key', async () => {
    const organization = await addOrganization()
    const vaults = await Promise.all([startVault(), startVault()])
    const sealed = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        database.begin(async (sql) => vaults[index % 2]?.seal(sql, organization, cell, `${index}`)),
      ),
    )
    const later = await startVault()
    for (const [index, text] of sealed.entries())
      assert.equal((await later.open(database, organization, cell, text ?? '')).reveal(), `${index}`)
  })

  test('a key of a rolled back transaction is never used again', async () => {
    const organization = await addOrganization()
    const vault = await startVault()
    const rolledBack = database.begin(async (sql) => {
      const sealed = await vault.seal(sql, organization, cell, 'text')
      assert.equal((await vault.open(sql, organization, cell, sealed)).reveal(), 'text')
      throw new Error('rolled back')
    })
    await assert.rejects(rolledBack, /rolled back/)
    const sealed = await vault.seal(database, organization, cell, 'text')
    assert.equal((await (await startVault()).open(database, organization, cell, sealed)).reveal(), 'text')
  })

  test('a new key seals once it is committed, never after a rollback, and the previous one still opens', async () => {
    const organization = await addOrganization()
    const vault = await startVault()
    const keyOf = (sealed: string): string => sealed.split('.')[1] ?? ''
    const first = await vault.seal(database, organization, cell, 'first')
    const rolledBack = database.begin(async (sql) => {
      await vault.addKey(sql, organization)
      assert.notEqual(keyOf(await vault.seal(sql, organization, cell, 'lost')), keyOf(first))
      throw new Error('rolled back')
    })
    await assert.rejects(rolledBack, /rolled back/)
    assert.equal(keyOf(await vault.seal(database, organization, cell, 'again')), keyOf(first))
    assert.deepEqual(await database.begin((sql) => vault.addKey(sql, organization)), [keyOf(first)])
    const second = await vault.seal(database, organization, cell, 'second')
    assert.notEqual(keyOf(second), keyOf(first))
    const later = await startVault()
    for (const [text, sealed] of Object.entries({ first, second }))
      assert.equal((await later.open(database, organization, cell, sealed)).reveal(), text)
  })

  test('neither the text nor the master key is in the database', async () => {
    const organization = await addOrganization()
    const vault = await startVault()
    const sealed = await vault.seal(database, organization, cell, 'SECRET-CANARY')
    const stored = JSON.stringify([
      await database`select * from organization`,
      await database`select * from data_key`,
      await database`select * from setting`,
      sealed,
    ])
    const { bytes } = await readMasterKey(masterKeyFile)
    for (const trace of [
      'SECRET-CANARY',
      Buffer.from('SECRET-CANARY').toString('base64url'),
      bytes.toString('base64url'),
    ])
      assert.equal(stored.includes(trace), false)
  })

  test('a deleted organization is not found', async () => {
    const vault = await startVault()
    await assert.rejects(vault.seal(database, newId(), cell, 'text'), { code: 'notFound' })
  })
})

describe('the pepper', () => {
  const file = (): string => join(directory, 'keys/token.pepper')

  test('is created once and kept, whatever happens to the master key', async () => {
    const pepper = await openPepper({ database, file: file() })
    assert.equal(pepper.length, 32)
    assert.equal((await stat(file())).mode & 0o777, 0o600)
    assert.deepEqual(await openPepper({ database, file: file() }), pepper)
  })

  test('is not recreated if the file is lost, damaged or different', async () => {
    await openPepper({ database, file: file() })
    await assert.rejects(openPepper({ database, file: join(directory, 'lost') }), fails('missing'))
    await makeKeyFile(join(directory, 'other'), 'token pepper')
    await assert.rejects(openPepper({ database, file: join(directory, 'other') }), fails('wrong'))
    await writeFile(file(), 'damaged')
    await assert.rejects(openPepper({ database, file: file() }), fails('damaged'))
  })
})

test('a fingerprint differs under another key', async () => {
  const vault = await startVault()
  const organization = await addOrganization()
  const former = await vault.fingerprint(database, organization, 'build', 'text')
  await database.begin((sql) => vault.addKey(sql, organization))
  assert.notEqual(await vault.fingerprint(database, organization, 'build', 'text'), former)
})

test('a fingerprint is equal only for the same text, organization and purpose', async () => {
  const vault = await startVault()
  const [one, other] = [await addOrganization(), await addOrganization()]
  const first = await vault.fingerprint(database, one, 'build', 'text')
  assert.match(first, /^[0-9a-f]{64}$/)
  assert.equal(await (await startVault()).fingerprint(database, one, 'build', 'text'), first)
  const others = [
    await vault.fingerprint(database, other, 'build', 'text'),
    await vault.fingerprint(database, one, 'other', 'text'),
    await vault.fingerprint(database, one, 'build', 'text2'),
  ]
  assert.equal(new Set([first, ...others]).size, 4)
  assert.ok(others.every((text) => !text.includes('text')))
})
