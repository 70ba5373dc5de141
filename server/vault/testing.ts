import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../database/index.ts'
import type { Cleanup } from '../database/testing.ts'
import { silentLogger } from '../lib/log.ts'
import { openVault, type Vault } from './vault.ts'

/** A directory for key files that goes with the test. */
export async function keyDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-keys-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** An open vault on the test's database, with a master key of its own. */
export async function testVault(t: Cleanup, database: Database): Promise<Vault> {
  return openVault({ database, masterKeyFile: join(await keyDirectory(t), 'master.key'), log: silentLogger })
}

/** A vault on the same database whose master key is lost. */
export async function sealedTestVault(t: Cleanup, database: Database): Promise<Vault> {
  return openVault({ database, masterKeyFile: join(await keyDirectory(t), 'missing'), log: silentLogger })
}
