import { createHmac, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = /^quay_([0-9A-Za-z]{16})_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * An API token: `quay_<key id>_<256-bit secret><checksum>`, deliberately with an underscore and
 * without a dot.
 */
export interface ParsedToken {
  readonly keyId: string
  readonly secret: string
}

/** Creates a token and returns its parts. */
export function mintToken(): ParsedToken & { readonly token: string } {
  const keyId = base62(randomBytes(12), 16)
  const secret = base62(randomBytes(32), 43)
  return { keyId, secret, token: `quay_${keyId}_${secret}${checksum(keyId, secret)}` }
}

/** Splits a token, or returns undefined if its form or checksum is wrong. It needs no database. */
export function parseToken(text: string): ParsedToken | undefined {
  const match = form.exec(text)
  const [, keyId, secret, check] = match ?? []
  if (!keyId || !secret || check !== checksum(keyId, secret)) return undefined
  return { keyId, secret }
}

/**
 * Returns the stored digest of the secret. It is useless without the pepper, which is outside the
 * database. Passing the pepper as a key object takes a sixth of the time.
 */
export const hashSecret = (pepper: Buffer | KeyObject, secret: string): Buffer =>
  createHmac('sha256', pepper).update(secret).digest()

/** Compares in constant time. */
export const sameHash = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

function checksum(keyId: string, secret: string): string {
  return base62Number(BigInt(crc32(`${keyId}_${secret}`)), 6)
}

const base62 = (bytes: Buffer, length: number): string => base62Number(BigInt(`0x${bytes.toString('hex')}`), length)

function base62Number(value: bigint, length: number): string {
  let text = ''
  let rest = value
  for (let place = 0; place < length; place++) {
    text = `${alphabet[Number(rest % 62n)]}${text}`
    rest /= 62n
  }
  return text
}
