import { createHash, scrypt, timingSafeEqual } from 'node:crypto'
import { passwordCost } from '@quayside/contract/routes.ts'
import { nextTurn } from './clock.ts'

/** The forms of a hash, see `BasicCredential`. */
export const hashForm = /^(?:\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|(?:sha1-)?scrypt:[\w-]{22}:[\w-]{43})$/

/**
 * Returns whether a password matches this hash. Takes some milliseconds, most of them on a thread
 * of Node.js. Never rejects.
 */
export async function gives(password: Buffer, hash: string): Promise<boolean> {
  const [form = '', second = '', third = ''] = hash.split(hash.startsWith('$') ? /(?<=.)\$/ : ':')
  if (form === '$apr1') return isSame(await apr1(password, second), third)
  const secret = form === 'sha1-scrypt' ? createHash('sha1').update(password).digest() : password
  return isSame(await scrypted(secret, Buffer.from(second, 'base64url')), third)
}

/** Returns an empty string, which no hash equals, if there is no memory for it. */
function scrypted(secret: Buffer, salt: Buffer): Promise<string> {
  const { bytes, ...cost } = passwordCost
  return new Promise((resolve) => {
    scrypt(secret, salt, bytes, cost, (error, made) => resolve(error ? '' : made.toString('base64url')))
  })
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

const md5 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Rounds between two turns of other work: a fraction of a millisecond. */
const roundsPerTurn = 50

/** Computes Apache's variant of FreeBSD's MD5 crypt. Returns the 22 characters behind the salt. */
async function apr1(password: Buffer, salt: string): Promise<string> {
  const other = md5(password, salt, password)
  const parts: (Buffer | string)[] = [password, '$apr1$', salt]
  for (let left = password.length; left > 0; left -= 16) parts.push(other.subarray(0, Math.min(16, left)))
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? '\0' : password.subarray(0, 1))
  let digest = md5(...parts)
  for (let round = 0; round < 1000; round++) {
    if (round % roundsPerTurn === 0) await nextTurn()
    const isOdd = (round & 1) === 1
    digest = md5(
      isOdd ? password : digest,
      round % 3 === 0 ? '' : salt,
      round % 7 === 0 ? '' : password,
      isOdd ? digest : password,
    )
  }
  return crypt64(digest)
}

const alphabet = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Encodes sixteen bytes in the order and alphabet of crypt(3): six bits a character, lowest first.
 */
function crypt64(digest: Buffer): string {
  const at = (index: number): number => digest[index] ?? 0
  const groups = [0, 1, 2, 3, 4].map((index) => ({
    value: (at(index) << 16) | (at(index + 6) << 8) | at(index === 4 ? 5 : index + 12),
    characters: 4,
  }))
  return [...groups, { value: at(11), characters: 2 }]
    .map(({ value, characters }) =>
      Array.from({ length: characters }, (_, place) => alphabet[(value >> (6 * place)) & 63]).join(''),
    )
    .join('')
}
