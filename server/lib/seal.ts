import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { Secret } from './secret.ts'

/**
 * Sealed texts: AES-256-GCM with a random 96-bit nonce, written `v1.<key id>.<nonce>.<ciphertext and tag>` in base64url.
 * The place that a text belongs to is authenticated with it, so a sealed text that was moved to another row, column or
 * organization does not open there. Nothing here reads files or the database.
 */
export interface SealingKey {
  /** Derived from the bytes, tells nothing about them: which key a sealed text needs. */
  readonly id: string
  readonly bytes: Buffer
  /** The same for ciphers: handed in as bytes, Node takes five times as long to begin with one. */
  readonly secret: KeyObject
}

/** Where a sealed text lives. None of the parts may hold a vertical bar. */
export interface SealContext {
  readonly organization: string
  readonly table: string
  readonly row: string
  readonly column: string
}

/** A column of sealed texts. When keys are exchanged, these texts are sealed again. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key. Its values, joined by spaces, are the row of a text's place. */
  readonly key: readonly string[]
}

/**
 * `malformed`: not a sealed text of this version · `other-key`: sealed by a key that is not this one ·
 * `not-authentic`: damaged, or sealed for another place.
 */
export type SealFailure = 'malformed' | 'other-key' | 'not-authentic'

export class SealError extends Error {
  readonly reason: SealFailure

  constructor(reason: SealFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'SealError'
    this.reason = reason
  }
}

const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
const form = /^v1\.([A-Za-z0-9_-]{11})\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/

/** A key of exactly 32 bytes, with its id. */
export function sealingKey(bytes: Buffer): SealingKey {
  if (bytes.length !== keyBytes) throw new RangeError(`a sealing key has ${keyBytes} bytes, not ${bytes.length}`)
  const hash = createHash('sha256').update('quayside key id\n').update(bytes).digest()
  return { id: hash.subarray(0, 8).toString('base64url'), bytes, secret: createSecretKey(bytes) }
}

export const newSealingKey = (): SealingKey => sealingKey(randomBytes(keyBytes))

export const seal = (key: SealingKey, context: SealContext, text: string): string =>
  sealBytes(key, context, Buffer.from(text, 'utf8'))

/** Throws SealError. */
export const open = (key: SealingKey, context: SealContext, sealed: string): Secret =>
  new Secret(openBytes(key, context, sealed).toString('utf8'))

/** A keyed hash of a text for one purpose: equal for equal texts, and telling nothing of them without the key. */
export const fingerprint = (key: SealingKey, purpose: string, text: string): string => {
  const own = createHmac('sha256', key.bytes).update(`quayside fingerprint\n${purpose}`).digest()
  return createHmac('sha256', own).update(text).digest('hex')
}

/** What one key sealed, sealed for the same place by another one. Throws SealError. */
export const reseal = (from: SealingKey, to: SealingKey, context: SealContext, sealed: string): string =>
  sealBytes(to, context, openBytes(from, context, sealed))

/** The data key of an organization, sealed by the master key. */
export const wrapKey = (masterKey: SealingKey, organization: string, dataKey: SealingKey): string =>
  sealBytes(masterKey, dataKeyContext(organization), dataKey.bytes)

/** Throws SealError. */
export function unwrapKey(masterKey: SealingKey, organization: string, wrapped: string): SealingKey {
  const bytes = openBytes(masterKey, dataKeyContext(organization), wrapped)
  if (bytes.length !== keyBytes) throw new SealError('malformed', 'the wrapped text does not hold a key')
  return sealingKey(bytes)
}

/** The id of the key that a text was sealed by; undefined where the text is no sealed text. */
export const keyIdOf = (sealed: string): string | undefined => form.exec(sealed)?.[1]

/** Where a wrapped data key lives, as it has been spelled since there was one of them for each organization. */
export const dataKeyContext = (organization: string): SealContext => ({
  organization,
  table: 'organization',
  row: organization,
  column: 'data_key',
})

function sealBytes(key: SealingKey, context: SealContext, plain: Buffer): string {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: tagBytes })
  cipher.setAAD(place(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  return `v1.${key.id}.${nonce.toString('base64url')}.${body.toString('base64url')}`
}

function openBytes(key: SealingKey, context: SealContext, sealed: string): Buffer {
  const [, keyId, nonce, text] = form.exec(sealed) ?? []
  if (keyId === undefined || nonce === undefined || text === undefined)
    throw new SealError('malformed', 'the text is not a sealed text of version 1')
  if (keyId !== key.id) throw new SealError('other-key', `the text was sealed by key ${keyId}, not by ${key.id}`)
  const body = Buffer.from(text, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key.secret, Buffer.from(nonce, 'base64url'), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(place(context))
  decipher.setAuthTag(body.subarray(-tagBytes))
  try {
    const plain = decipher.update(body.subarray(0, -tagBytes))
    // Checks the tag; of this mode nothing is left that it could give.
    decipher.final()
    return plain
  } catch (cause) {
    throw new SealError('not-authentic', 'the sealed text is damaged or belongs to another place', { cause })
  }
}

function place({ organization, table, row, column }: SealContext): Buffer {
  const parts = [organization, table, row, column]
  // Without this, two places could share one spelling.
  if (parts.some((part) => part.includes('|'))) throw new RangeError('a part of a seal context holds a vertical bar')
  return Buffer.from(parts.join('|'), 'utf8')
}
