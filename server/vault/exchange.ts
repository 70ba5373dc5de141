import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import * as envelope from '../lib/seal.ts'
import { KeyFileError, makeKeyFile, readKeyFile, replaceKeyFile } from './key-file.ts'
import {
  countOtherSessions,
  findProof,
  listDataKeysNotBy,
  lockKeySetUp,
  replaceDataKey,
  replaceProof,
} from './key-store.ts'

/** Texts of one table that the master key seals by itself (`Vault.sealOwn`). */
export interface OwnTexts {
  /** Up to so many that another key than the one of this id has sealed. */
  list(sql: Sql, keyId: string, limit: number): Promise<OwnText[]>
}

export interface OwnText {
  readonly place: envelope.SealContext
  readonly sealed: string
  replace(sql: Sql, sealed: string): Promise<void>
}

export const canaryPlace: envelope.SealContext = {
  organization: '',
  table: 'setting',
  row: 'vault.canary',
  column: 'value',
}

/** Beside the key file: the key that is about to take its place. */
export const nextKeyFile = (file: string): string => `${file}.next`

/** So many rows are read at once. */
const batch = 500

/**
 * Puts a new master key in the place of the one in the file, and seals by it everything that the former one sealed; what data keys seal
 * stays as it is. No server may use the database meanwhile. One transaction decides: before it the former key counts and is in the file,
 * after it the new one, which is on the disk by then. Cut off anywhere, the next call or the next start of the server ends it.
 * Gives how many texts were sealed anew; undefined: an earlier exchange was ended, and no other was begun. Throws KeyFileError.
 */
export async function exchangeMasterKey(options: {
  readonly database: Database
  readonly file: string
  readonly texts: readonly OwnTexts[]
}): Promise<number | undefined> {
  const { database, file, texts } = options
  const next = nextKeyFile(file)
  if (await inTransaction(database, (sql) => endExchange(sql, file))) return undefined
  const former = envelope.sealingKey(await readKeyFile(file, 'master key'))
  const key = envelope.sealingKey(await haveKey(next))
  failpoint('key.made')
  const count = await inTransaction(database, async (sql) => {
    await lockKeySetUp(sql)
    await refuseOthers(sql)
    await sealProof(sql, { former, key, file })
    failpoint('key.sealing')
    let sealed = 0
    for (const source of [dataKeys, ...texts]) sealed += await sealAgain(sql, source, former, key)
    return sealed
  })
  failpoint('key.sealed')
  await replaceKeyFile(file, next)
  failpoint('key.replaced')
  return count
}

/** Where an exchange was cut off after the new key began to count, its file takes the place of the former one. Gives whether it was so. */
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

/** The one that an exchange which was cut off has made, or a new one. */
async function haveKey(file: string): Promise<Buffer> {
  try {
    return await readKeyFile(file, 'master key')
  } catch (error) {
    if (!(error instanceof KeyFileError) || error.reason !== 'missing') throw error
    return makeKeyFile(file, 'master key')
  }
}

/** A server that holds the former key would go on sealing by it. */
async function refuseOthers(sql: Sql): Promise<void> {
  if ((await countOtherSessions(sql)) === 0) return
  throw new KeyExchangeError(
    'A server uses this database. Stop it, exchange the key, and start it again: it would go on sealing by the former key.',
  )
}

/** `message` says what to do; it can be printed as it is. Nothing was changed. */
export class KeyExchangeError extends Error {
  override readonly name = 'KeyExchangeError'
}

async function sealProof(
  sql: Sql,
  {
    former,
    key,
    file,
  }: { readonly former: envelope.SealingKey; readonly key: envelope.SealingKey; readonly file: string },
): Promise<void> {
  const canary = await findProof(sql, 'vault.canary')
  if (canary === undefined || !opens(former, canary)) {
    const message = `the key in ${file} is not the one that this database was sealed by: restore the former file`
    throw new KeyFileError('wrong', file, message)
  }
  await replaceProof(sql, 'vault.canary', envelope.seal(key, canaryPlace, 'canary'))
}

const dataKeys: OwnTexts = {
  list: async (sql, keyId, limit) =>
    (await listDataKeysNotBy(sql, keyId, limit)).map(({ id, data_key: sealed }) => ({
      place: envelope.dataKeyContext(id),
      sealed,
      replace: (within, wrapped) => replaceDataKey(within, id, wrapped),
    })),
}

async function sealAgain(
  sql: Sql,
  source: OwnTexts,
  former: envelope.SealingKey,
  key: envelope.SealingKey,
): Promise<number> {
  for (let count = 0; ; ) {
    const found = await source.list(sql, key.id, batch)
    if (found.length === 0) return count
    for (const { place, sealed, replace } of found) await replace(sql, resealed(former, key, place, sealed))
    count += found.length
  }
}

function resealed(
  former: envelope.SealingKey,
  key: envelope.SealingKey,
  place: envelope.SealContext,
  sealed: string,
): string {
  try {
    return envelope.reseal(former, key, place, sealed)
  } catch (cause) {
    if (!(cause instanceof envelope.SealError)) throw cause
    const where = `${place.table}.${place.column} of ${place.row}`
    throw new KeyExchangeError(
      `${where} cannot be opened by the key of this database: ${cause.message}. Nothing was changed. Restore that row from a backup, or delete it.`,
      { cause },
    )
  }
}
