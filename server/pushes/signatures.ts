import { createHash, createHmac, type Hash, type Hmac, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../lib/secret.ts'
import type { WebhookProvider } from './git-webhook-store.ts'

/** Headers by lower-case name. A header that is sent twice counts as missing. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** The signature and the identity of a message. */
interface Signing {
  /** Whether the sender knows the secret. The comparison takes constant time. */
  isGood(headers: Headers, body: Buffer, secret: Secret, now: Date): Promise<boolean>
  /** The provider's id of this message, equal for every retry. */
  deliveryId(headers: Headers, digest: Buffer): string
  /** The event that it reports. */
  event(headers: Headers): string
  /** The signature does not cover the id, so the same body under another id is the same message. */
  readonly isIdUnsigned: (headers: Headers) => boolean
}

/** Maximum difference between a signed timestamp and the clock. */
const toleranceMs = 5 * 60_000

/**
 * Checks messages by the signature of each provider.
 *
 * GitHub: `X-Hub-Signature-256: sha256=<hex HMAC-SHA256 of the body>`. The older `X-Hub-Signature`
 * (SHA-1) is ignored.
 * https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
 *
 * GitLab: `X-Gitlab-Token: <the secret>`, or with a signing token `webhook-signature: v1,<base64
 * HMAC-SHA256>` over `<webhook-id>.<webhook-timestamp>.<body>`, as in Standard Webhooks. If the
 * signature is sent, the token is ignored. `Idempotency-Key` is the same for every retry.
 * `X-Gitlab-Event-UUID` is shared by a chain of events.
 * https://docs.gitlab.com/user/project/integrations/webhooks/ ·
 * https://gitlab.com/gitlab-org/gitlab/-/merge_requests/230944
 *
 * Bitbucket Cloud: `X-Hub-Signature: sha256=<hex HMAC-SHA256 of the body>`.
 * https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
 */
export const signings: Readonly<Record<WebhookProvider, Signing>> = {
  GITHUB: {
    isGood: (headers, body, secret) => isHubSignature(one(headers, 'x-hub-signature-256'), body, secret),
    deliveryId: (headers, digest) => one(headers, 'x-github-delivery') ?? unnamed(digest),
    event: (headers) => one(headers, 'x-github-event') ?? '',
    isIdUnsigned: () => true,
  },
  GITLAB: {
    isGood: async (headers, body, secret, now) =>
      headers['webhook-signature'] === undefined
        ? isSame(one(headers, 'x-gitlab-token') ?? '', secret.reveal()) && secret.reveal() !== ''
        : isStandardSignature(headers, body, secret, now),
    deliveryId: (headers, digest) =>
      one(headers, 'idempotency-key') ??
      one(headers, 'webhook-id') ??
      `${one(headers, 'x-gitlab-event-uuid') ?? ''}${unnamed(digest)}`,
    event: (headers) => one(headers, 'x-gitlab-event') ?? '',
    isIdUnsigned: () => false,
  },
  BITBUCKET: {
    isGood: (headers, body, secret) => isHubSignature(one(headers, 'x-hub-signature'), body, secret),
    deliveryId: (headers, digest) => one(headers, 'x-request-uuid') ?? unnamed(digest),
    event: (headers) => one(headers, 'x-event-key') ?? '',
    isIdUnsigned: () => true,
  },
}

const unnamed = (digest: Buffer): string => `sha256:${digest.toString('hex')}`

/** Undefined unless the header is sent exactly once and no longer than providers send it. */
function one(headers: Headers, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' && value !== '' && value.length <= 200 ? value : undefined
}

async function isHubSignature(signature: string | undefined, body: Buffer, secret: Secret): Promise<boolean> {
  const key = secret.reveal()
  const expected = `sha256=${(await updated(createHmac('sha256', key), body)).digest('hex')}`
  return isSame(signature ?? '', expected) && key !== ''
}

async function isStandardSignature(headers: Headers, body: Buffer, secret: Secret, now: Date): Promise<boolean> {
  const [id, timestamp] = [one(headers, 'webhook-id'), one(headers, 'webhook-timestamp')]
  const signatures = (one(headers, 'webhook-signature') ?? '').split(' ')
  const text = secret.reveal()
  const key = text.startsWith('whsec_') ? Buffer.from(text.slice('whsec_'.length), 'base64') : Buffer.from(text)
  const begun = createHmac('sha256', key).update(`${id}.${timestamp}.`)
  const expected = (await updated(begun, body)).digest('base64')
  const isKnown = signatures.map((signature) => isSame(signature, `v1,${expected}`)).includes(true)
  const ageMs = Math.abs(now.getTime() - Number(timestamp) * 1000)
  return isKnown && key.length > 0 && id !== undefined && /^\d{1,12}$/.test(timestamp ?? '') && ageMs <= toleranceMs
}

const sliceBytes = 2 ** 20

/** Adds a body to a digest in slices, between which other requests have their turn. */
export async function updated<T extends Hash | Hmac>(digest: T, body: Buffer): Promise<T> {
  for (let from = 0; from < body.length; from += sliceBytes) {
    if (from > 0) await new Promise((resolve) => setImmediate(resolve))
    digest.update(body.subarray(from, from + sliceBytes))
  }
  return digest
}

/** Compares digests of equal length, so the time reveals nothing of the texts. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
