import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../database/index.ts'
import type { Cleanup } from '../database/testing.ts'
import { silentLogger } from '../lib/log.ts'
import { openVault, type Vault } from './vault.ts'

/** Creates a directory for key files that is removed with the test. */
export async function keyDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-keys-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Creates an open vault on the test's database with its own master key. */
export async function testVault(t: Cleanup, database: Database): Promise<Vault> {
  return openVault({ database, masterKeyFile: join(await keyDirectory(t), 'master.key'), log: silentLogger })
}

/** Creates a vault on the same database without its master key. */
export async function sealedTestVault(t: Cleanup, database: Database): Promise<Vault> {
  return openVault({ database, masterKeyFile: join(await keyDirectory(t), 'missing'), log: silentLogger })
}
