import { generateKeyPair, type JsonWebKey } from 'node:crypto'
import { promisify } from 'node:util'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newRandomId } from '../lib/id.ts'
import type { Vault } from '../vault/index.ts'
import {
  deleteIssuerKeys,
  type IssuerKeyRow,
  insertIssuerKey,
  listIssuerKeys,
  lockIssuerKeys,
} from './issuer-key-store.ts'

const makeKeyPair = promisify(generateKeyPair)
const dayMs = 24 * 3600 * 1000
/** How long a key signs, and how long it is listed: until its last token has expired. */
const signsMs = 90 * dayMs
const keptMs = signsMs + 2 * dayMs
/** How long other processes may not know a new key. */
const rememberedMs = 60_000

/** A key as JSON Web Key, with its id and use. */
export type IssuerKey = JsonWebKey & { readonly kid: string; readonly alg: 'RS256'; readonly use: 'sig' }

export interface IssuerKeysOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
}
export type IssuerKeys = ReturnType<typeof createIssuerKeys>

const privateKeyCell = (id: string) => ({ table: 'issuer_key', row: id, column: 'sealed_private_key' })
const withUse = (key: JsonWebKey, kid: string): IssuerKey => ({ ...key, kid, alg: 'RS256', use: 'sig' })

/**
 * The issuer's signing keys. A key is created if none exists or the newest is too old. The vault
 * seals private parts.
 */
export function createIssuerKeys({ database, vault, clock }: IssuerKeysOptions) {
  let remembered: { readonly rows: readonly IssuerKeyRow[]; readonly atMs: number } | undefined

  async function publicKeys(): Promise<{ keys: IssuerKey[] }> {
    const nowMs = clock.now().getTime()
    if (!remembered || nowMs - remembered.atMs > rememberedMs) {
      remembered = { rows: await listIssuerKeys(database), atMs: nowMs }
    }
    return { keys: remembered.rows.map((row) => withUse(row.public_key, row.id)) }
  }

  return {
    publicKeys,
    /**
     * Returns all keys with their private parts, the signing one first. Throws AppError `sealed`
     * while the vault is sealed.
     */
    async privateKeys(): Promise<[IssuerKey, ...IssuerKey[]]> {
      const rows = await inTransaction(database, async (sql) => {
        await lockIssuerKeys(sql)
        const known = await listIssuerKeys(sql)
        const age = (row: IssuerKeyRow): number => clock.now().getTime() - row.created_at.getTime()
        await deleteIssuerKeys(
          sql,
          known.filter((row) => age(row) > keptMs).map(({ id }) => id),
        )
        const newest = known[0]
        if (!newest || age(newest) > signsMs) await insertIssuerKey(sql, await newKey(sql))
        return listIssuerKeys(sql)
      })
      remembered = undefined
      const [first, ...others] = await Promise.all(rows.map(open))
      if (!first) throw new Error('the issuer has no key')
      return [first, ...others]
    },
  }

  async function newKey(sql: Sql): Promise<IssuerKeyRow> {
    const { publicKey, privateKey } = await makeKeyPair('rsa', { modulusLength: 2048 })
    const id = newRandomId()
    const text = JSON.stringify(privateKey.export({ format: 'jwk' }))
    const sealed_private_key = await vault.sealOwn(sql, privateKeyCell(id), text)
    return { id, created_at: clock.now(), public_key: publicKey.export({ format: 'jwk' }), sealed_private_key }
  }

  async function open(row: IssuerKeyRow): Promise<IssuerKey> {
    const key: JsonWebKey = JSON.parse((await vault.openOwn(privateKeyCell(row.id), row.sealed_private_key)).reveal())
    return withUse(key, row.id)
  }
}
