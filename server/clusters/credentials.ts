import { type CloudProvider, type ProviderName, providers } from '@quayside/contract/providers.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import type { Vault } from '../vault/index.ts'
import {
  type CredentialsRow,
  deleteCredentials,
  findCredentials,
  insertCredentials,
  listCredentials,
  listWithClusters,
  lockCredentials,
  namesOfClusters,
  updateCredentials,
} from './credentials-store.ts'
import { type CredentialsBody, partsOf, variantOf, wantedVariant } from './variants.ts'

export interface CredentialsOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
}

const cell = (row: string) => ({ table: 'credentials', row, column: 'sealed_secrets' })
const cloudOf = (provider: ProviderName): CloudProvider => providers[provider].cloud

/** Manages the credentials of an organization, one provider at a time. */
export function createCredentials({ database, vault, clock }: CredentialsOptions) {
  const existing = (row: CredentialsRow | undefined, id: string): CredentialsRow => {
    if (!row) throw notFound('credentials object', id)
    return row
  }
  const sealSecrets = async (
    sql: Sql,
    organizationId: string,
    id: string,
    secrets: Readonly<Record<string, string>>,
  ) => (Object.keys(secrets).length === 0 ? null : vault.seal(sql, organizationId, cell(id), JSON.stringify(secrets)))

  /** Returns what to seal after a change. Secrets that the request omits are kept. */
  async function changedSecrets(sql: Sql, row: CredentialsRow, given: Record<string, string>) {
    if (Object.keys(given).length === 0) return row.sealed_secrets
    const former = row.sealed_secrets && (await vault.open(sql, row.organization_id, cell(row.id), row.sealed_secrets))
    const kept: Record<string, string> = former ? JSON.parse(former.reveal()) : {}
    return sealSecrets(sql, row.organization_id, row.id, { ...kept, ...given })
  }

  return {
    async list(organizationId: string, provider: ProviderName) {
      return (await listCredentials(database, organizationId, cloudOf(provider))).map(credentialsRecord)
    },

    async listAll(organizationId: string) {
      const rows = await listWithClusters(database, organizationId)
      return rows.map((row) => ({ credential: credentialsRecord(row), clusters: row.clusters }))
    },

    async get(organizationId: string, provider: ProviderName, id: string) {
      return credentialsRecord(existing(await findCredentials(database, organizationId, id, cloudOf(provider)), id))
    },

    async create(organizationId: string, provider: ProviderName, body: CredentialsBody & { readonly name: string }) {
      const name = checkName('name', body.name)
      const variant = wantedVariant(provider, body)
      const { objectType: object_type, derived } = variantOf(variant)
      const { shown, secret } = partsOf(variant, body, true)
      const settings = { ...shown, ...derived?.(shown) }
      const id = newId()
      return inTransaction(database, async (sql) => {
        const sealed_secrets = await sealSecrets(sql, organizationId, id, secret)
        const values = { object_type, variant, name, settings, sealed_secrets }
        const owner = { id, organization_id: organizationId, cloud_provider: cloudOf(provider) }
        await insertCredentials(sql, { ...values, ...owner }, clock.now())
        return credentialsRecord(existing(await findCredentials(sql, organizationId, id), id))
      })
    },

    async edit(organizationId: string, provider: ProviderName, id: string, body: CredentialsBody) {
      return inTransaction(database, async (sql) => {
        const row = existing(await lockCredentials(sql, organizationId, id, cloudOf(provider)), id)
        const variant = wantedVariant(provider, body, row.variant)
        const isSame = variant === row.variant
        const { objectType: object_type, derived } = variantOf(variant)
        const { shown, secret } = partsOf(variant, body, !isSame)
        const named = isSame ? { ...row.settings, ...shown } : shown
        const settings = { ...named, ...derived?.(named) }
        const sealed_secrets = isSame
          ? await changedSecrets(sql, row, secret)
          : await sealSecrets(sql, organizationId, id, secret)
        const name = body.name === undefined ? row.name : checkName('name', body.name)
        await updateCredentials(sql, id, { object_type, variant, name, settings, sealed_secrets }, clock.now())
        return credentialsRecord(existing(await findCredentials(sql, organizationId, id), id))
      })
    },

    async remove(organizationId: string, provider: ProviderName, id: string): Promise<void> {
      await inTransaction(database, async (sql) => {
        const row = existing(await lockCredentials(sql, organizationId, id, cloudOf(provider)), id)
        const names = await namesOfClusters(sql, id)
        if (names.length > 0) {
          const message = `Credentials "${row.name}" are used by the cluster ${names.map((one) => `"${one}"`).join(', ')}.`
          throw new AppError('conflict', `${message} Assign other credentials to it first.`)
        }
        await deleteCredentials(sql, id)
      })
    },
  }
}

/** Returns the row in API format. Fields that are not secret are beside the name. */
const credentialsRecord = ({ settings, sealed_secrets: _, ...row }: CredentialsRow) => ({ ...row, ...settings })
