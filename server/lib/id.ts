import { hash, randomFillSync, randomUUID } from 'node:crypto'

type Brand<Name extends string> = string & { readonly __brand?: Name }
export type OrganizationId = Brand<'organization'>
export type ProjectId = Brand<'project'>
export type EnvironmentId = Brand<'environment'>
export type ServiceId = Brand<'service'>
export type ReleaseId = Brand<'release'>
export type RequestId = Brand<'deployment request'>

const pool = Buffer.alloc(16 * 128)
let used = pool.length
let lastMs = 0
let sequence = 0

/**
 * Returns a new UUIDv7 (RFC 9562): 48 bits of milliseconds, 12 bits of sequence within a
 * millisecond, 62 random bits. Ascending in one process.
 */
export function newId<T extends string = string>(): T {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = pool.subarray(used, used + 16)
  used += 16
  const now = Date.now()
  if (now > lastMs) {
    lastMs = now
    sequence = 0
  } else if (++sequence > 0xfff) {
    lastMs++
    sequence = 0
  }
  bytes.writeUIntBE(lastMs, 0, 6)
  bytes.writeUInt16BE(0x7000 | sequence, 6)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return hyphenate(bytes) as T
}

/**
 * Returns a new UUIDv4. Services use these ids because their names contain the first eight
 * characters of the id, which two UUIDv7 of the same minute share.
 */
export const newRandomId = <T extends string = string>(): T => randomUUID() as T

/**
 * Returns the same id for the same parts, always (a UUIDv8 from their SHA-256): for things that
 * have no row of their own.
 */
export function derivedId(...parts: readonly string[]): string {
  const bytes = hash('sha256', parts.join('\n'), 'buffer').subarray(0, 16)
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f)
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f)
  return hyphenate(bytes)
}

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Stands for a malformed id. No object has it. */
export const noId = '00000000-0000-0000-0000-000000000000'

/**
 * Returns the id in lower case; undefined if the text is not an id in the one accepted spelling.
 */
export const parseId = (text: string): string | undefined => (form.test(text) ? text.toLowerCase() : undefined)

function hyphenate(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
