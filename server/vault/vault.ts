import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import * as envelope from '../lib/seal.ts'
import type { Secret } from '../lib/secret.ts'
import { canaryPlace, endExchange } from './exchange.ts'
import { KeyFileError, makeKeyFile, readKeyFile } from './key-file.ts'
import { findDataKey, findProof, hasDataKeys, insertProof, keepDataKey, lockKeySetUp } from './key-store.ts'

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
  /** The same for what belongs to the platform and to no organization: the master key itself seals it. */
  sealOwn(cell: Cell, text: string): string
  openOwn(cell: Cell, sealed: string): Secret
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
    return openedVault(masterKey)
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

function openedVault(masterKey: envelope.SealingKey): Vault {
  // For opening only, where the sealed text says which key it needs. What is to be sealed takes the key that the caller's
  // transaction sees: one that a rolled back transaction made must not be used again.
  const dataKeys = new Map<string, envelope.SealingKey>()
  const unwrap = (organizationId: string, wrapped: string): envelope.SealingKey => {
    const dataKey = envelope.unwrapKey(masterKey, organizationId, wrapped)
    dataKeys.set(`${organizationId} ${dataKey.id}`, dataKey)
    return dataKey
  }
  const keyFor = async (sql: Sql, organizationId: string): Promise<envelope.SealingKey> => {
    const wrapped =
      (await findDataKey(sql, organizationId)) ??
      (await keepDataKey(sql, organizationId, envelope.wrapKey(masterKey, organizationId, envelope.newSealingKey())))
    if (wrapped === undefined) throw new AppError('notFound', 'the organization does not exist any more')
    return unwrap(organizationId, wrapped)
  }
  return {
    state: { open: true },
    async seal(sql, organizationId, cell, text) {
      return envelope.seal(await keyFor(sql, organizationId), { organization: organizationId, ...cell }, text)
    },
    async sealAll(sql, organizationId, texts) {
      if (texts.length === 0) return []
      const key = await keyFor(sql, organizationId)
      return texts.map(({ cell, text }) => envelope.seal(key, { organization: organizationId, ...cell }, text))
    },
    async open(sql, organizationId, cell, sealed) {
      const place = { organization: organizationId, ...cell }
      const known = dataKeys.get(`${organizationId} ${envelope.keyIdOf(sealed)}`)
      if (known) return envelope.open(known, place, sealed)
      const wrapped = await findDataKey(sql, organizationId)
      if (!wrapped) throw new envelope.SealError('other-key', 'the organization has no data key')
      return envelope.open(unwrap(organizationId, wrapped), place, sealed)
    },
    fingerprint: async (sql, organizationId, purpose, text) =>
      envelope.fingerprint(await keyFor(sql, organizationId), purpose, text),
    sealOwn: (cell, text) => envelope.seal(masterKey, { organization: '', ...cell }, text),
    openOwn: (cell, sealed) => envelope.open(masterKey, { organization: '', ...cell }, sealed),
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
    sealOwn: refuseNow,
    openOwn: refuseNow,
  }
}
