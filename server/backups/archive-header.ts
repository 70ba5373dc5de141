import { createHash, createSecretKey, hkdfSync, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto'
import { ArchiveError } from './archive-error.ts'

const title = Buffer.from('quayside archive, version 1\n')
const keyBytes = 32
const saltBytes = 32
const checkBytes = 32
const checksumBytes = 32

/** The beginning of every file. */
export const headerBytes = title.length + saltBytes + checkBytes + checksumBytes

/**
 * Creates the header of a new file, and the key of its chunks. The key is derived from `key` and a
 * salt, so one key may write many files. The header is its title, the salt, a value that identifies
 * the right key, and a checksum that needs no key. So another key can be distinguished from damage.
 */
export function newHeader(key: Buffer): { header: Buffer; chunkKey: KeyObject } {
  const salt = randomBytes(saltBytes)
  const { chunkKey, check } = derive(key, salt)
  const said = Buffer.concat([title, salt, check])
  return { header: Buffer.concat([said, checksum(said)]), chunkKey }
}

/** Returns the key of the chunks that follow. Throws ArchiveError. */
export function openHeader(header: Buffer, key: Buffer, name: string): KeyObject {
  const said = header.subarray(0, -checksumBytes)
  const isWhole = header.length === headerBytes && checksum(said).equals(header.subarray(-checksumBytes))
  if (!isWhole || !said.subarray(0, title.length).equals(title))
    throw new ArchiveError(
      'damaged',
      `the file ${name} is damaged at its beginning, or is no archive of version 1; take another backup`,
    )
  const { chunkKey, check } = derive(key, said.subarray(title.length, title.length + saltBytes))
  if (!timingSafeEqual(check, said.subarray(-checkBytes)))
    throw new ArchiveError(
      'other-key',
      `the file ${name} was written with another key; give the key that it was made with`,
    )
  return chunkKey
}

function derive(key: Buffer, salt: Buffer): { chunkKey: KeyObject; check: Buffer } {
  if (key.length !== keyBytes) throw new RangeError(`the key of an archive has ${keyBytes} bytes, not ${key.length}`)
  const derived = Buffer.from(hkdfSync('sha256', key, salt, title, keyBytes + checkBytes))
  return { chunkKey: createSecretKey(derived.subarray(0, keyBytes)), check: derived.subarray(keyBytes) }
}

const checksum = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()
