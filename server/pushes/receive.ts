import { createHash } from 'node:crypto'
import { type Database, inTransaction, withOwner } from '../database/index.ts'
import { repositoryKey } from '../git/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { asInvalid, readForeign } from '../lib/foreign-json.ts'
import { parseId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import type { Vault } from '../vault/index.ts'
import type { Workflows } from '../workflows/index.ts'
import {
  findReceivingWebhook,
  type GitWebhookRow,
  insertGitDelivery,
  type WebhookProvider,
} from './git-webhook-store.ts'
import { secretCell } from './git-webhooks.ts'
import { payloadReader, pushEvents, type Told } from './payloads.ts'
import { recordPush } from './push.ts'
import { type Headers, signings, updated } from './signatures.ts'

export interface ReceiverOptions {
  readonly database: Database
  readonly vault: Vault
  readonly clock: Clock
  readonly workflows: Pick<Workflows, 'submit' | 'nudge'>
  /** The origins of the built-in git host. A webhook cannot report pushes to its repositories. */
  readonly home: readonly string[]
}

/** A message of a git provider. */
export interface Message {
  /** From the address, such as `github`. */
  readonly provider: string
  /** From the address. */
  readonly webhookId: string
  readonly headers: Headers
  readonly body: Buffer
}

/** The result of a message. */
export interface Received {
  readonly status: 'accepted' | 'ignored' | 'repeated'
  readonly reason: string | null
}

/** Used if the webhook does not exist, so that both cases take the same time. */
const nobodys = new Secret('nobody knows this')

export interface Receiver {
  /**
   * Receives a message. Checks its signature before reading it, and records it with its pushes
   * before answering. Throws 404 for an unknown address, 401 for a wrong signature, 400 if it is
   * not JSON. `take` is called once the organization is known and may reject the message.
   */
  receive(message: Message, take: (webhookId: string) => void): Promise<Received>
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { database, vault, clock } = options
  return {
    async receive({ provider: word, webhookId, headers, body }, take) {
      const provider = providerOf(word)
      const id = parseId(webhookId)
      const webhook = provider && id ? await findReceivingWebhook(database, provider, id) : undefined
      const secret = webhook
        ? await vault.open(database, webhook.organization_id, secretCell(webhook.id), webhook.sealed_secret)
        : nobodys
      const signing = signings[provider ?? 'GITHUB']
      const isGood = await signing.isGood(headers, body, secret, clock.now())
      if (!webhook) throw notFound('git webhook')
      if (!isGood) throw new AppError('unauthorized', 'The message is not signed with the secret of this webhook.')
      take(webhook.id)
      return withOwner(webhook.organization_id, () => writeDown(options, webhook, { headers, body }))
    },
  }
}

const providers: readonly WebhookProvider[] = ['BITBUCKET', 'GITHUB', 'GITLAB']
const providerOf = (word: string): WebhookProvider | undefined => providers.find((name) => name.toLowerCase() === word)

async function writeDown(
  { database, clock, workflows, home }: ReceiverOptions,
  { id, organization_id: organizationId, provider }: GitWebhookRow,
  { headers, body }: Pick<Message, 'headers' | 'body'>,
): Promise<Received> {
  const signing = signings[provider]
  const event = signing.event(headers)
  const told =
    event === pushEvents[provider]
      ? await understand(provider, body, home)
      : { ignored: 'It is not a push of a branch.' }
  const [status, reason] = 'ignored' in told ? (['IGNORED', told.ignored] as const) : (['ACCEPTED', null] as const)
  const digest = (await updated(createHash('sha256'), body)).digest()
  const now = clock.now()
  const isNew = await inTransaction(database, async (sql) => {
    const row = { git_webhook_id: id, received_at: now, event: event.slice(0, 100), status, reason }
    const delivery_id = signing.deliveryId(headers, digest)
    if (
      !(await insertGitDelivery(sql, { ...row, delivery_id, digest: signing.isIdUnsigned(headers) ? digest : null }))
    ) {
      return false
    }
    if ('ignored' in told) return true
    for (const push of told.pushes) {
      await recordPush(sql, workflows, { organizationId, source: provider, repositories: told.keys, ...push }, now)
    }
    return true
  })
  if (!isNew) return { status: 'repeated', reason: 'This message was already received.' }
  if (status === 'ACCEPTED') workflows.nudge()
  return { status: status === 'ACCEPTED' ? 'accepted' : 'ignored', reason }
}

/** Replaces the addresses of the repository with its keys. */
async function understand(
  provider: WebhookProvider,
  body: Buffer,
  home: readonly string[],
): Promise<(Exclude<Told, { ignored: string }> & { readonly keys: readonly string[] }) | { readonly ignored: string }> {
  const told = await readForeign(payloadReader, { json: body }, provider).catch(asInvalid('The message'))
  if ('ignored' in told) return told
  const keys = told.addresses.flatMap((address) => repositoryKey(address, home) ?? [])
  const foreign = [...new Set(keys)].filter((key) => !key.startsWith('/'))
  return foreign.length === 0 ? { ignored: 'It names no repository.' } : { ...told, keys: foreign }
}
