import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import * as envelope from '../lib/seal.ts'
import { KeyFileError, makeKeyFile, nextKeyFile, readKeyFile, replaceKeyFile } from './key-file.ts'
import {
  countSessionsOfOthers,
  findProof,
  listDataKeysNotBy,
  lockKeySetUp,
  replaceDataKey,
  replaceProof,
} from './key-store.ts'
import { serverSession } from './master-keys.ts'
import { lockSealed, replaceSealed } from './sealed-store.ts'

export const canaryPlace: envelope.SealContext = {
  organization: '',
  table: 'setting',
  row: 'vault.canary',
  column: 'value',
}

/** Rows per read. */
const batch = 500

interface Keys {
  readonly former: envelope.SealingKey
  readonly key: envelope.SealingKey
}

/**
 * Replaces the master key in the file and seals everything that the previous key sealed with the
 * new one: the data keys and these columns. Texts that data keys seal are unchanged. One
 * transaction decides: before it the previous key is valid and in the file, after it the new one,
 * which is already on disk. Servers that read this file pick up the new key. Writers that need the
 * master key wait for the end of the transaction. If the exchange is interrupted, the next call or
 * the next start of the server completes it. Returns the number of texts that were sealed again, or
 * undefined if it completed an earlier exchange and began no new one. Throws KeyFileError and
 * KeyExchangeError.
 */
export async function exchangeMasterKey(options: {
  readonly database: Database
  readonly file: string
  readonly columns: readonly envelope.SealedColumn[]
}): Promise<number | undefined> {
  const { database, file, columns } = options
  const count = await inTransaction(database, async (sql) => {
    if (await endExchange(sql, file)) return undefined
    const former = envelope.sealingKey(await readKeyFile(file, 'master key'))
    const key = envelope.sealingKey(await haveKey(nextKeyFile(file)))
    failpoint('key.made')
    await refuseOthers(sql, file)
    await sealProof(sql, { former, key }, file)
    failpoint('key.sealing')
    let sealed = await wrapAgain(sql, { former, key })
    for (const column of columns) sealed += await sealAgain(sql, column, { former, key })
    return sealed
  })
  if (count === undefined) return undefined
  failpoint('key.sealed')
  // A server that is starting may already have done this.
  await inTransaction(database, (sql) => endExchange(sql, file))
  failpoint('key.replaced')
  return count
}

/**
 * If an exchange was interrupted after the new key became valid, replaces the key file. Returns
 * whether it did.
 */
export async function endExchange(sql: Sql, file: string): Promise<boolean> {
  await lockKeySetUp(sql)
  const canary = await findProof(sql, 'vault.canary')
  const next = nextKeyFile(file)
  const bytes = await readKeyFile(next, 'master key').catch((error: unknown) => {
    if (error instanceof KeyFileError) return undefined
    throw error
  })
  if (!bytes || canary === undefined || !opens(envelope.sealingKey(bytes), canary)) return false
  await replaceKeyFile(file, next)
  return true
}

function opens(key: envelope.SealingKey, canary: string): boolean {
  try {
    envelope.open(key, canaryPlace, canary)
    return true
  } catch (error) {
    if (error instanceof envelope.SealError) return false
    throw error
  }
}

/** Returns the new key of an interrupted exchange, or creates one. */
async function haveKey(file: string): Promise<Buffer> {
  try {
    return await readKeyFile(file, 'master key')
  } catch (error) {
    if (!(error instanceof KeyFileError) || error.reason !== 'missing') throw error
    return makeKeyFile(file, 'master key')
  }
}

/**
 * A server that reads another file, or whose version cannot follow an exchange, would keep sealing
 * with the previous key.
 */
async function refuseOthers(sql: Sql, file: string): Promise<void> {
  if ((await countSessionsOfOthers(sql, serverSession(file))) === 0) return
  throw new KeyExchangeError(
    `A server uses this database that does not follow the file ${file}: it reads another one, runs on ` +
      'another machine, or was started by a version before this one. Stop it, exchange the key, and start it ' +
      'again with the new file.',
  )
}

/**
 * The exchange is not possible, and nothing was changed. `message` says what to do and can be
 * printed.
 */
export class KeyExchangeError extends Error {
  override readonly name = 'KeyExchangeError'
}

/** From here on every writer that needs the master key waits. */
async function sealProof(sql: Sql, { former, key }: Keys, file: string): Promise<void> {
  const canary = await findProof(sql, 'vault.canary')
  if (canary === undefined || !opens(former, canary)) {
    const message = `the key in ${file} is not the one that this database was sealed by: restore the former file`
    throw new KeyFileError('wrong', file, message)
  }
  await replaceProof(sql, 'vault.canary', envelope.seal(key, canaryPlace, 'canary'))
}

async function wrapAgain(sql: Sql, keys: Keys): Promise<number> {
  for (let count = 0; ; ) {
    const found = await listDataKeysNotBy(sql, keys.key.id, batch)
    if (found.length === 0) return count
    for (const row of found) {
      const wrapped_key = resealed(keys, envelope.dataKeyContext(row.organization_id), row.wrapped_key)
      await replaceDataKey(sql, { ...row, wrapped_key })
    }
    count += found.length
  }
}

async function sealAgain(sql: Sql, of: envelope.SealedColumn, keys: Keys): Promise<number> {
  const { table, column } = of
  for (let count = 0; ; ) {
    const found = await lockSealed(sql, of, { otherThan: keys.key.id }, { limit: batch })
    if (found.length === 0) return count
    for (const { row, sealed } of found) {
      const place = { organization: '', table, row: row.join(' '), column }
      await replaceSealed(sql, of, row, resealed(keys, place, sealed))
    }
    count += found.length
  }
}

function resealed({ former, key }: Keys, place: envelope.SealContext, sealed: string): string {
  try {
    return envelope.reseal(former, key, place, sealed)
  } catch (cause) {
    if (!(cause instanceof envelope.SealError)) throw cause
    const where = `${place.table}.${place.column} of ${place.row}`
    throw new KeyExchangeError(
      `${where} cannot be opened by the key of this database: ${cause.message}. Nothing was changed. Restore ` +
        'that row from a backup, or delete it.',
      { cause },
    )
  }
}
