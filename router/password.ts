import { createHash, scryptSync, timingSafeEqual } from 'node:crypto'
import { passwordCost } from '@quayside/contract/routes.ts'

/** The forms of a hash, see `BasicCredential`. */
export const hashForm = /^(?:\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|(?:sha1-)?scrypt:[\w-]{22}:[\w-]{43})$/

/** Returns whether a password matches this hash. Takes some milliseconds. */
export function gives(password: Buffer, hash: string): boolean {
  const [form = '', second = '', third = ''] = hash.split(hash.startsWith('$') ? /(?<=.)\$/ : ':')
  if (form === '$apr1') return isSame(apr1(password, second), third)
  const { bytes, ...cost } = passwordCost
  const secret = form === 'sha1-scrypt' ? createHash('sha1').update(password).digest() : password
  return isSame(scryptSync(secret, Buffer.from(second, 'base64url'), bytes, cost).toString('base64url'), third)
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

const md5 = (...parts: readonly (Buffer | string)[]): Buffer => {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Computes Apache's variant of FreeBSD's MD5 crypt. Returns the 22 characters behind the salt. */
function apr1(password: Buffer, salt: string): string {
  const other = md5(password, salt, password)
  const parts: (Buffer | string)[] = [password, '$apr1$', salt]
  for (let left = password.length; left > 0; left -= 16) parts.push(other.subarray(0, Math.min(16, left)))
  for (let bits = password.length; bits > 0; bits >>= 1) parts.push(bits & 1 ? '\0' : password.subarray(0, 1))
  let digest = md5(...parts)
  for (let round = 0; round < 1000; round++) {
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
