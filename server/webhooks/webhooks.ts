import { randomBytes } from 'node:crypto'
import { type WebhookEventSpelling, webhookEventSpellings } from '@quayside/contract/enums.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { AddressGuard } from '../lib/address.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { targetProblem } from '../lib/target.ts'
import type { EnvironmentMode } from '../organizations/index.ts'
import type { Vault } from '../vault/index.ts'
import { replayDelivery } from './replay.ts'
import { lockWebhook } from './replay-store.ts'
import { deliveryRecord, listDeliveries } from './shown-delivery-store.ts'
import { deliveriesShownTo, type WebhookReader, webhookShownTo } from './shown-to.ts'
import { addressToStore } from './target-address.ts'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  updateWebhook,
  type WebhookRow,
  type WebhookValues,
} from './webhook-store.ts'

export interface WebhookRequest {
  readonly kind?: 'STANDARD' | 'SLACK'
  readonly target_url: string
  readonly target_secret?: string | null
  readonly description?: string | null
  readonly enabled?: boolean
  readonly events: WebhookEventSpelling[]
  readonly project_names_filter?: string[] | null
  readonly environment_types_filter?: EnvironmentMode[] | null
}

export interface WebhooksOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly guard: AddressGuard
  /** The platform's own address, because deliveries to ourselves would loop. */
  readonly publicUrl: string
}

const newSigningSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
export const shownDeliveries = 100
const cell = (row: string, column: string) => ({ table: 'webhook', row, column })

/** The registered webhooks of an organization. */
export function createWebhooks(options: WebhooksOptions) {
  const { database, vault, clock } = options

  const existing = async (sql: Sql, organizationId: string, id: string): Promise<WebhookRow> => {
    const row = await findWebhook(sql, organizationId, id)
    if (!row) throw notFound('webhook', id)
    return row
  }
  const sealTarget = async (sql: Sql, organizationId: string, id: string, body: WebhookRequest) => {
    if (body.target_secret === undefined) return {}
    const secret = body.target_secret
    const column = 'sealed_target_secret'
    return { [column]: secret ? await vault.seal(sql, organizationId, cell(id, column), checkSecret(secret)) : null }
  }

  const sealSigning = async (sql: Sql, organizationId: string, id: string, secret: string | undefined) => {
    const column = 'sealed_signing_secret'
    return secret ? { [column]: await vault.seal(sql, organizationId, cell(id, column), secret) } : {}
  }

  return {
    async list(organizationId: string, reader: WebhookReader) {
      return (await listWebhooks(database, organizationId)).map((row) => readRecord(webhookShownTo(reader, row)))
    },

    async get(organizationId: string, id: string, reader: WebhookReader) {
      return readRecord(webhookShownTo(reader, await existing(database, organizationId, id)))
    },

    async create(organizationId: string, body: WebhookRequest) {
      const values = checked({ ...body, target_url: addressToStore(body.target_url, undefined) }, options)
      const signing_secret = newSigningSecret()
      const row = await inTransaction(database, async (sql) => {
        const id = newId()
        const column = 'sealed_signing_secret'
        const sealed_signing_secret = await vault.seal(sql, organizationId, cell(id, column), signing_secret)
        const target = await sealTarget(sql, organizationId, id, body)
        await insertWebhook(
          sql,
          { ...values, ...target, id, organization_id: organizationId, sealed_signing_secret },
          clock.now(),
        )
        return existing(sql, organizationId, id)
      })
      return { ...savedRecord(row), ...(body.target_secret ? {} : { signing_secret }) }
    },

    async edit(organizationId: string, id: string, body: WebhookRequest) {
      // The user's own secret is removed, and nobody knows the generated one. The webhook gets a
      // new one, shown now.
      const fresh = body.target_secret === null ? newSigningSecret() : undefined
      const row = await inTransaction(database, async (sql) => {
        await lockWebhook(sql, organizationId, id)
        const before = await existing(sql, organizationId, id)
        const target_url = addressToStore(body.target_url, before.target_url)
        const values = checked({ ...body, target_url }, options)
        if (body.target_secret === undefined) refuseOtherOrigin(before, values.target_url)
        await updateWebhook(
          sql,
          id,
          {
            ...values,
            ...(await sealTarget(sql, organizationId, id, body)),
            ...(await sealSigning(sql, organizationId, id, fresh)),
          },
          clock.now(),
        )
        return existing(sql, organizationId, id)
      })
      return { ...savedRecord(row), ...(fresh ? { signing_secret: fresh } : {}) }
    },

    async remove(organizationId: string, id: string): Promise<void> {
      if (!(await deleteWebhook(database, organizationId, id))) throw notFound('webhook', id)
    },

    /** Lists the last deliveries, newest first, as far as the reader may see them. */
    async deliveries(organizationId: string, id: string, reader: WebhookReader) {
      await existing(database, organizationId, id)
      const rows = await listDeliveries(database, id, shownDeliveries)
      return deliveriesShownTo(reader, rows).map(deliveryRecord)
    },

    /** Sends the event of a delivery again. Only for callers who may edit the webhook. */
    async replay(organizationId: string, webhookId: string, deliveryId: string) {
      return deliveryRecord(await replayDelivery({ database, clock }, { organizationId, webhookId, deliveryId }))
    },
  }
}

/** Deliveries carry the secret itself. Rejects a change that would send it to another origin. */
function refuseOtherOrigin(before: WebhookRow, target_url: string): void {
  if (before.sealed_target_secret === null) return
  const stored = URL.parse(before.target_url)?.origin
  if (stored !== undefined && stored === URL.parse(target_url)?.origin) return
  throw new AppError(
    'invalid',
    'target_secret must be sent again, or null to remove it, when scheme, host or port of target_url change: ' +
      `it was stored for "${stored ?? 'another address'}".`,
  )
}

function checkSecret(secret: string): string {
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new AppError('invalid', 'target_secret must be printable text without spaces: it is sent as a header.')
  }
  return secret
}

function checked(body: WebhookRequest, { guard, publicUrl }: WebhooksOptions): WebhookValues {
  checkAddress(body.target_url, guard, publicUrl)
  const canonical = body.events.map((event) => webhookEventSpellings[event])
  const twice = canonical.findIndex((event, index) => canonical.indexOf(event) !== index)
  if (twice !== -1) throw new AppError('invalid', `events[${twice}] is a duplicate, possibly in another spelling.`)
  return {
    kind: body.kind ?? 'STANDARD',
    target_url: body.target_url,
    description: body.description ?? '',
    enabled: body.enabled ?? true,
    events: body.events,
    project_names_filter: body.project_names_filter ?? [],
    environment_types_filter: body.environment_types_filter ?? [],
  }
}

function checkAddress(address: string, guard: AddressGuard, publicUrl: string): void {
  const url = URL.parse(address)
  const problem = url ? targetProblem(guard, url) : 'The address is not a valid URL.'
  if (problem) throw new AppError('invalid', `target_url: ${problem}`)
  if (url?.hash) throw new AppError('invalid', 'target_url must not have a fragment.')
  if (url?.origin === publicUrl) throw new AppError('invalid', 'target_url must not be this platform itself.')
}

const common = (row: WebhookRow) => ({ ...row, target_secret_set: row.sealed_target_secret !== null })
/** The events as they were sent. */
const savedRecord = (row: WebhookRow) => common(row)
/** The events by their canonical names. */
const readRecord = (row: WebhookRow) => ({
  ...common(row),
  events: row.events.map((event) => webhookEventSpellings[event]),
})
