import type { Sql } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import * as envelope from '../lib/seal.ts'
import { findDataKey, keepDataKey, listDataKeys } from './key-store.ts'
import type { MasterKeys } from './master-keys.ts'

/** The data keys of organizations. Each is wrapped by the master key, and the newest one seals. */
export function createDataKeys(masterKeys: MasterKeys) {
  // A cache for opening only, by the key id in the sealed text. Sealing uses the key that the
  // caller's transaction sees, because a key of a transaction that rolled back must not be used
  // again. Previous keys stay cached until the process ends: a text may have been read before it
  // was sealed again.
  const known = new Map<string, envelope.SealingKey>()

  /** The master key that sealed a text. */
  async function master(sealed: string): Promise<envelope.SealingKey> {
    const id = envelope.keyIdOf(sealed)
    if (id === undefined) throw new envelope.SealError('malformed', 'the text is not a sealed text of version 1')
    const key = await masterKeys.find(id)
    if (!key) throw new envelope.SealError('other-key', `the text was sealed by master key ${id}, which no file holds`)
    return key
  }

  async function unwrap(organizationId: string, wrapped: string): Promise<envelope.SealingKey> {
    const key = envelope.unwrapKey(await master(wrapped), organizationId, wrapped)
    known.set(`${organizationId} ${key.id}`, key)
    return key
  }

  /** Throws AppError `notFound` if the organization no longer exists. */
  async function make(sql: Sql, organizationId: string, number: number): Promise<envelope.SealingKey> {
    const key = envelope.wrapKey(await masterKeys.current(sql), organizationId, envelope.newSealingKey())
    await keepDataKey(sql, { organization_id: organizationId, number, wrapped_key: key })
    const wrapped = await findDataKey(sql, organizationId)
    if (wrapped === undefined) throw new AppError('notFound', 'the organization no longer exists')
    return unwrap(organizationId, wrapped)
  }

  /** The key that seals. The first one is created in the caller's transaction. */
  async function current(sql: Sql, organizationId: string): Promise<envelope.SealingKey> {
    const wrapped = await findDataKey(sql, organizationId)
    return wrapped === undefined ? make(sql, organizationId, 1) : unwrap(organizationId, wrapped)
  }

  return {
    master,
    current,

    /** Returns the key that sealed a text. Throws SealError if the organization has no such key. */
    async of(sql: Sql, organizationId: string, sealed: string): Promise<envelope.SealingKey> {
      const id = envelope.keyIdOf(sealed)
      if (id === undefined) throw new envelope.SealError('malformed', 'the text is not a sealed text of version 1')
      const kept = known.get(`${organizationId} ${id}`)
      if (kept) return kept
      for (const { wrapped_key } of await listDataKeys(sql, organizationId)) {
        const key = await unwrap(organizationId, wrapped_key)
        if (key.id === id) return key
      }
      throw new envelope.SealError(
        'other-key',
        `the text was sealed by key ${id}, which the organization does not have`,
      )
    },

    /** See `Vault.addKey`. */
    async add(sql: Sql, organizationId: string): Promise<string[]> {
      await current(sql, organizationId)
      const former = await listDataKeys(sql, organizationId)
      const ids: string[] = []
      for (const { wrapped_key } of former) ids.push((await unwrap(organizationId, wrapped_key)).id)
      await make(sql, organizationId, (former[0]?.number ?? 0) + 1)
      return ids
    },
  }
}
