import { randomBytes } from 'node:crypto'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import type { Vault } from '../vault/index.ts'
import {
  deleteGitWebhook,
  findGitWebhook,
  insertGitWebhook,
  type ListedGitWebhook,
  listGitDeliveries,
  listGitWebhooks,
  updateGitWebhookSecret,
  type WebhookProvider,
} from './git-webhook-store.ts'

export interface GitWebhooksOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  /** The base address of the API, without a trailing slash. */
  readonly publicUrl: string
}

const shownDeliveries = 100

/** The cell for which the secret of a webhook is sealed. */
export const secretCell = (id: string) => ({ table: 'git_webhook', row: id, column: 'sealed_secret' })

/**
 * The secret is text for all providers. In the form of Standard Webhooks it is also the key of
 * their signatures.
 */
const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`

/** The addresses of one organization at which git providers report pushes. */
export function createGitWebhooks({ database, vault, clock, publicUrl }: GitWebhooksOptions) {
  const record = (row: ListedGitWebhook) => ({
    ...row,
    url: `${publicUrl}/webhook/git/${row.provider.toLowerCase()}/${row.id}`,
  })
  const existing = async (sql: Sql, organizationId: string, id: string): Promise<ListedGitWebhook> => {
    const row = await findGitWebhook(sql, organizationId, id)
    if (!row) throw notFound('git webhook', id)
    return row
  }
  return {
    async list(organizationId: string) {
      return (await listGitWebhooks(database, organizationId)).map(record)
    },

    async create(
      organizationId: string,
      body: { readonly provider: WebhookProvider; readonly description?: string | null },
    ) {
      const [id, secret, now] = [newId(), newSecret(), clock.now()]
      const row = await inTransaction(database, async (sql) => {
        await insertGitWebhook(sql, {
          id,
          organization_id: organizationId,
          created_at: now,
          updated_at: now,
          provider: body.provider,
          description: body.description ?? '',
          sealed_secret: await vault.seal(sql, organizationId, secretCell(id), secret),
        })
        return existing(sql, organizationId, id)
      })
      return { ...record(row), secret }
    },

    async rotate(organizationId: string, id: string) {
      const secret = newSecret()
      const row = await inTransaction(database, async (sql) => {
        await existing(sql, organizationId, id)
        const sealed = await vault.seal(sql, organizationId, secretCell(id), secret)
        await updateGitWebhookSecret(sql, id, sealed, clock.now())
        return existing(sql, organizationId, id)
      })
      return { ...record(row), secret }
    },

    async remove(organizationId: string, id: string): Promise<void> {
      if (!(await deleteGitWebhook(database, organizationId, id))) {
        throw notFound('git webhook', id)
      }
    },

    async deliveries(organizationId: string, id: string) {
      await existing(database, organizationId, id)
      const rows = await listGitDeliveries(database, id, shownDeliveries)
      return rows.map(({ delivery_id, received_at, event, status, reason }) => ({
        id: delivery_id,
        created_at: received_at,
        event,
        status,
        reason,
      }))
    },
  }
}

export type GitWebhooks = ReturnType<typeof createGitWebhooks>
