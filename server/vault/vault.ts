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

/** A database cell that stores a sealed text. */
export type Cell = Omit<envelope.SealContext, 'organization'>

export interface Vault {
  /** `reason` tells the operator why nothing can be sealed or opened. */
  readonly state: { readonly open: true } | { readonly open: false; readonly reason: string }
  /**
   * Seals a text for one cell of one organization. Creates the organization's data key in the
   * caller's transaction if it has none. Throws AppError `sealed` while the vault is sealed.
   */
  seal(sql: Sql, organizationId: string, cell: Cell, text: string): Promise<string>
  /** Seals many texts, in their order, with one lookup of the data key. */
  sealAll(
    sql: Sql,
    organizationId: string,
    texts: readonly { readonly cell: Cell; readonly text: string }[],
  ): Promise<string[]>
  /**
   * Throws AppError `sealed` while the vault is sealed, SealError if the text is damaged or belongs
   * to another cell.
   */
  open(sql: Sql, organizationId: string, cell: Cell, sealed: string): Promise<Secret>
  /**
   * Returns a keyed hash of a text, equal for the same text, organization and purpose. It reveals
   * nothing of the text. Throws AppError `sealed` while the vault is sealed.
   */
  fingerprint(sql: Sql, organizationId: string, purpose: string, text: string): Promise<string>
  /**
   * Seals texts of the platform itself with the master key. The text must be written in the same
   * transaction: an exchange of the key waits for its end and then finds the text.
   */
  sealOwn(sql: Sql, cell: Cell, text: string): Promise<string>
  openOwn(cell: Cell, sealed: string): Promise<Secret>
  /**
   * Adds a data key in the caller's transaction. It seals the organization's texts from the commit
   * on. Returns the ids of the previous keys, which can still open texts.
   */
  addKey(sql: Sql, organizationId: string): Promise<string[]>
}

/** Reads the master key. Throws KeyFileError: `missing`, `unreadable` or `damaged`. */
export const readMasterKey = async (file: string): Promise<envelope.SealingKey> =>
  envelope.sealingKey(await readKeyFile(file, 'master key'))

/**
 * Creates the master key at the very first start. Later it checks that the file has the key of this
 * database. If not, the vault is sealed: nothing is overwritten, and everything that needs no plain
 * text keeps working.
 */
export async function openVault(options: { database: Database; masterKeyFile: string; log: Logger }): Promise<Vault> {
  const { database, masterKeyFile: file, log } = options
  try {
    const masterKey = await inTransaction(database, async (sql) => {
      await lockKeySetUp(sql)
      if (await endExchange(sql, file)) log.warn({ file }, 'an interrupted exchange of the master key was completed')
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
      'Secrets cannot be read or written: the master key is missing or wrong. The operator must restore the ' +
        'file that QUAYSIDE_MASTER_KEY_FILE names and restart the server.',
    )
  }
  const refuse = async (): Promise<never> => refuseNow()
  // An empty list needs no key.
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
