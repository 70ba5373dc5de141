import { createHash } from 'node:crypto'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import { type Database, inTransaction } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { parseId } from '../lib/id.ts'
import { printable } from '../lib/text.ts'
import type { Vault } from '../vault/index.ts'
import { findClient } from './client-store.ts'
import {
  consumeRecord,
  deleteRecord,
  deleteRecordsOfGrant,
  endSession,
  findRecord,
  type RecordRow,
  saveRecord,
} from './record-store.ts'

export interface RecordAdapterOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  /** Returns what the client of the current request says about itself. */
  readonly agent?: () => string | undefined
}

/** Hashes an id, because the id itself is a credential, for example a refresh token. */
export const digest = (id: string): string => createHash('sha256').update(id).digest('base64url')

/** The cell of a record's content. */
export const payloadCell = (model: string, idHash: string) => ({
  table: 'issuer_record',
  row: `${model} ${idHash}`,
  column: 'sealed_payload',
})

/** The account of a record. A sign-in that has not returned to the issuer yet has one too. */
const accountIn = ({ accountId, result }: AdapterPayload & { readonly result?: unknown }): string =>
  String(accountId ?? Object(Object(result).login).accountId ?? '')

const longestAgent = 200
/** People see their sessions, and the programs that stay signed in without one. */
const isListed = (model: string, { expiresWithSession }: AdapterPayload): boolean =>
  model === 'Session' || (model === 'RefreshToken' && expiresWithSession !== true)

/** The issuer's storage: PostgreSQL, with hashed ids and sealed content. */
export const createRecordAdapter =
  ({ database, vault, clock, agent }: RecordAdapterOptions) =>
  (model: string): Adapter => {
    const cellOf = (idHash: string) => payloadCell(model, idHash)
    const find = async (column: 'id_hash' | 'uid' | 'user_code_hash', value: string) => {
      const row = await findRecord(database, model, { column, value }, clock.now())
      return row && open(row)
    }
    const open = async (row: RecordRow): Promise<AdapterPayload> => {
      const text = await vault.openOwn(cellOf(row.id_hash), row.sealed_payload)
      const payload: AdapterPayload = JSON.parse(text.reveal())
      return row.consumed_at ? { ...payload, consumed: Math.floor(row.consumed_at.getTime() / 1000) } : payload
    }
    return {
      async upsert(id, payload, expiresIn) {
        const idHash = digest(id)
        const row = {
          model,
          id_hash: idHash,
          grant_id: payload.grantId ?? null,
          uid: payload.uid ?? null,
          user_code_hash: payload.userCode ? digest(payload.userCode) : null,
          account_id: parseId(accountIn(payload)) ?? null,
          agent: isListed(model, payload) ? printable((agent?.() ?? '').slice(0, longestAgent)) : null,
          expires_at: expiresIn ? new Date(clock.now().getTime() + expiresIn * 1000) : null,
        }
        await inTransaction(database, async (sql) => {
          const sealed_payload = await vault.sealOwn(sql, cellOf(idHash), JSON.stringify(payload))
          await saveRecord(sql, { ...row, sealed_payload })
        })
      },
      find: (id) => (model === 'Client' ? findClient(database, id) : find('id_hash', digest(id))),
      findByUid: (uid) => find('uid', uid),
      findByUserCode: (userCode) => find('user_code_hash', digest(userCode)),
      consume: (id) => consumeRecord(database, model, digest(id), clock.now()),
      destroy: (id) =>
        model === 'Session' ? endSession(database, digest(id), clock.now()) : deleteRecord(database, model, digest(id)),
      revokeByGrantId: (grantId) => deleteRecordsOfGrant(database, grantId),
    }
  }
