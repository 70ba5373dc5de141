import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import * as envelope from '../lib/seal.ts'
import type { Secret } from '../lib/secret.ts'
import { createDataKeys } from './data-keys.ts'
import { canaryPlace, endExchange } from './exchange.ts'
import { KeyFileError, makeKeyFile, readKeyFile } from './key-file.ts'
import { findProof, hasDataKeys, insertProof, lockKeySetUp } from './key-store.ts'
import { createMasterKeys, type MasterKeys } from './master-keys.ts'

/** The cell of the database that a sealed text is kept in. */
export type Cell = Omit<envelope.SealContext, 'organization'>

export interface Vault {
  /** `reason`: why nothing can be sealed or opened, as a sentence for the operator. */
  readonly state: { readonly open: true } | { readonly open: false; readonly reason: string }
  /**
   * Seals a text for one cell of one organization. Makes the organization's data key in the caller's transaction where
   * there is none. Throws AppError `sealed` while the vault is sealed.
   */
  seal(sql: Sql, organizationId: string, cell: Cell, text: string): Promise<string>
  /** Many at once, in their order: the data key is looked for once. */
  sealAll(
    sql: Sql,
    organizationId: string,
    texts: readonly { readonly cell: Cell; readonly text: string }[],
  ): Promise<string[]>
  /** Throws AppError `sealed` while the vault is sealed, SealError where the text is damaged or belongs to another cell. */
  open(sql: Sql, organizationId: string, cell: Cell, sealed: string): Promise<Secret>
  /**
   * A keyed hash of a text, the same for the same text, organization and purpose; it tells nothing of the text. Throws AppError `sealed`
   * while the vault is sealed.
   */
  fingerprint(sql: Sql, organizationId: string, purpose: string, text: string): Promise<string>
  /**
   * The same for what belongs to the platform and to no organization: the master key itself seals it. What is sealed is written in the
   * same transaction: an exchange of the key waits for its end, and finds it.
   */
  sealOwn(sql: Sql, cell: Cell, text: string): Promise<string>
  openOwn(cell: Cell, sealed: string): Promise<Secret>
  /** In the caller's transaction: another data key seals the organization's texts from its commit on. Gives the ids of the former ones, which still open. */
  addKey(sql: Sql, organizationId: string): Promise<string[]>
}

/** The master key. Throws KeyFileError: `missing`, `unreadable` or `damaged`. */
export const readMasterKey = async (file: string): Promise<envelope.SealingKey> =>
  envelope.sealingKey(await readKeyFile(file, 'master key'))

/**
 * Makes the master key at the very first start, and otherwise checks that the file holds the key that this database was
 * sealed by. Where it does not, the vault is sealed: nothing is overwritten, and what needs no plaintext works on.
 */
export async function openVault(options: { database: Database; masterKeyFile: string; log: Logger }): Promise<Vault> {
  const { database, masterKeyFile: file, log } = options
  try {
    const masterKey = await inTransaction(database, async (sql) => {
      await lockKeySetUp(sql)
      if (await endExchange(sql, file)) log.warn({ file }, 'an exchange of the master key that was cut off was ended')
      return findMasterKey(sql, file)
    })
    return openedVault(createMasterKeys(file, masterKey))
  } catch (error) {
    if (!(error instanceof KeyFileError)) throw error
    log.error({ file, reason: error.reason, err: error }, 'vault stayed sealed')
    return sealedVault(error.message)
  }
}

async function findMasterKey(sql: Sql, file: string): Promise<envelope.SealingKey> {
  const canary = await findProof(sql, 'vault.canary')
  const isFirstStart = canary === undefined && !(await hasDataKeys(sql))
  const masterKey = await readMasterKey(file).catch(async (error: unknown) => {
    const isMissing = error instanceof KeyFileError && error.reason === 'missing'
    if (!isMissing || !isFirstStart) throw error
    return envelope.sealingKey(await makeKeyFile(file, 'master key'))
  })
  if (isFirstStart) {
    await insertProof(sql, 'vault.canary', envelope.seal(masterKey, canaryPlace, 'canary'))
    return masterKey
  }
  try {
    envelope.open(masterKey, canaryPlace, canary ?? '')
    return masterKey
  } catch (cause) {
    const message = `the key in ${file} is not the one that this database was sealed by: restore the former file`
    throw new KeyFileError('wrong', file, message, { cause })
  }
}

function openedVault(masterKeys: MasterKeys): Vault {
  const keys = createDataKeys(masterKeys)
  return {
    state: { open: true },
    async seal(sql, organizationId, cell, text) {
      return envelope.seal(await keys.current(sql, organizationId), { organization: organizationId, ...cell }, text)
    },
    async sealAll(sql, organizationId, texts) {
      if (texts.length === 0) return []
      const key = await keys.current(sql, organizationId)
      return texts.map(({ cell, text }) => envelope.seal(key, { organization: organizationId, ...cell }, text))
    },
    async open(sql, organizationId, cell, sealed) {
      const key = await keys.of(sql, organizationId, sealed)
      return envelope.open(key, { organization: organizationId, ...cell }, sealed)
    },
    fingerprint: async (sql, organizationId, purpose, text) =>
      envelope.fingerprint(await keys.current(sql, organizationId), purpose, text),
    async sealOwn(sql, cell, text) {
      return envelope.seal(await masterKeys.current(sql), { organization: '', ...cell }, text)
    },
    async openOwn(cell, sealed) {
      return envelope.open(await keys.master(sealed), { organization: '', ...cell }, sealed)
    },
    addKey: keys.add,
  }
}

function sealedVault(reason: string): Vault {
  const refuseNow = (): never => {
    throw new AppError(
      'sealed',
      'Secrets cannot be read or written: the master key is missing or is not the right one. The operator has to restore the file that QUAYSIDE_MASTER_KEY_FILE names, then restart the server.',
    )
  }
  const refuse = async (): Promise<never> => refuseNow()
  // Nothing to seal needs no key.
  const refuseAll: Vault['sealAll'] = async (_sql, _organizationId, texts) => (texts.length === 0 ? [] : refuse())
  return {
    state: { open: false, reason },
    seal: refuse,
    sealAll: refuseAll,
    open: refuse,
    fingerprint: refuse,
    sealOwn: refuse,
    openOwn: refuse,
    addKey: refuse,
  }
}
