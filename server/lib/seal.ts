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
 * Seals texts with AES-256-GCM and a random 96-bit nonce, written `v1.<key id>.<nonce>.<ciphertext
 * and tag>` in base64url. The place of a text is authenticated with it, so a sealed text does not
 * open in another row, column or organization. Nothing here reads files or the database.
 */
export interface SealingKey {
  /** Derived from the bytes without revealing them. It says which key a sealed text needs. */
  readonly id: string
  readonly bytes: Buffer
  /** The same key for ciphers. From bytes, Node takes five times as long to create a cipher. */
  readonly secret: KeyObject
}

/** The place of a sealed text. No part may contain a vertical bar. */
export interface SealContext {
  readonly organization: string
  readonly table: string
  readonly row: string
  readonly column: string
}

/** A column of sealed texts. A key rotation seals these texts again. */
export interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The primary key. Its values, joined by spaces, are the row in the place of a text. */
  readonly key: readonly string[]
}

/**
 * `malformed`: not a sealed text of this version · `other-key`: sealed with another key ·
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
const headForm = /^v1\.([A-Za-z0-9_-]{11})\.([A-Za-z0-9_-]{16})\.$/
const headLength = 'v1.'.length + 11 + 1 + 16 + 1
const leastBody = 22
const otherCharacter = /[^A-Za-z0-9_-]/

/**
 * Returns the parts of a sealed text. The body may be many MiB, for which an expression that
 * matches it as a whole has no room.
 */
function partsOf(sealed: string): { keyId: string; nonce: string; body: string } | undefined {
  const [, keyId, nonce] = headForm.exec(sealed.slice(0, headLength)) ?? []
  const body = sealed.slice(headLength)
  if (keyId === undefined || nonce === undefined) return undefined
  return body.length < leastBody || otherCharacter.test(body) ? undefined : { keyId, nonce, body }
}

/** Creates a key from exactly 32 bytes, with its id. */
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

/**
 * Returns a keyed hash of a text for one purpose. Equal texts have equal hashes, which reveal
 * nothing without the key.
 */
export const fingerprint = (key: SealingKey, purpose: string, text: string): string => {
  const own = createHmac('sha256', key.bytes).update(`quayside fingerprint\n${purpose}`).digest()
  return createHmac('sha256', own).update(text).digest('hex')
}

/** Seals a text of one key with another key, for the same place. Throws SealError. */
export const reseal = (from: SealingKey, to: SealingKey, context: SealContext, sealed: string): string =>
  sealBytes(to, context, openBytes(from, context, sealed))

/** Creates the data key of an organization, sealed with the master key. */
export const wrapKey = (masterKey: SealingKey, organization: string, dataKey: SealingKey): string =>
  sealBytes(masterKey, dataKeyContext(organization), dataKey.bytes)

/** Throws SealError. */
export function unwrapKey(masterKey: SealingKey, organization: string, wrapped: string): SealingKey {
  const bytes = openBytes(masterKey, dataKeyContext(organization), wrapped)
  if (bytes.length !== keyBytes) throw new SealError('malformed', 'the wrapped text does not hold a key')
  return sealingKey(bytes)
}

/** Returns the id of the key that sealed a text; undefined if the text is not sealed. */
export const keyIdOf = (sealed: string): string | undefined => partsOf(sealed)?.keyId

/** The place of a wrapped data key. Existing data keys were sealed with this spelling. */
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
  const parts = partsOf(sealed)
  if (!parts) throw new SealError('malformed', 'the text is not a sealed text of version 1')
  const { keyId, nonce } = parts
  if (keyId !== key.id) throw new SealError('other-key', `the text was sealed by key ${keyId}, not by ${key.id}`)
  const body = Buffer.from(parts.body, 'base64url')
  const decipher = createDecipheriv('aes-256-gcm', key.secret, Buffer.from(nonce, 'base64url'), {
    authTagLength: tagBytes,
  })
  decipher.setAAD(place(context))
  decipher.setAuthTag(body.subarray(-tagBytes))
  try {
    const plain = decipher.update(body.subarray(0, -tagBytes))
    // Checks the tag; this mode returns no further bytes.
    decipher.final()
    return plain
  } catch (cause) {
    throw new SealError('not-authentic', 'the sealed text is damaged or belongs to another place', { cause })
  }
}

function place({ organization, table, row, column }: SealContext): Buffer {
  const parts = [organization, table, row, column]
  // Without this check, two places could have the same spelling.
  if (parts.some((part) => part.includes('|'))) throw new RangeError('a part of a seal context holds a vertical bar')
  return Buffer.from(parts.join('|'), 'utf8')
}
