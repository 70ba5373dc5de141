import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../lib/error.ts'
import { createSlots } from '../lib/slots.ts'
import { createClientTurns } from './client-turns.ts'
import type { PasswordRow } from './password-store.ts'

/**
 * 32 MiB and a quarter of a second per attempt: the setting of OWASP's list that needs the least
 * memory.
 */
const today = { cost: 2 ** 15, block_size: 8, parallelization: 3 }
const hashBytes = 32
const leastLength = 12
const mostLength = 200
/**
 * Two hashes at a time: each takes memory and a thread. A client has one slot and a short queue.
 */
const slots = createSlots(2, { perOwner: 1, mostWaiting: 10 })

/**
 * Runs work that hashes a password, one piece at a time for each client and round-robin across
 * clients. Throws 429 if too much of the client waits, and 503 after 15 s in the queue.
 */
export const inTurnOfClient = createClientTurns(slots)

/** Rejects passwords that are too short, or too long to hash. */
export function checkPassword(field: string, password: string): string {
  const length = [...password].length
  if (length >= leastLength && length <= mostLength) return password
  throw new AppError('invalid', `${field} must have from ${leastLength} to ${mostLength} characters.`)
}

/** Call it inside `inTurnOfClient`. */
export async function hashPassword(password: string): Promise<PasswordRow> {
  const salt = randomBytes(16)
  return { ...today, salt, hash: await derive(password, { ...today, salt }) }
}

/**
 * Call it inside `inTurnOfClient`. An account that does not exist takes the same time: if `row` is
 * undefined, the password is compared with a digest that matches nothing.
 */
export async function isPassword(password: string, row: PasswordRow | undefined): Promise<boolean> {
  const against = row ?? { ...today, salt: noSalt, hash: randomBytes(hashBytes) }
  const hash = await derive(password.slice(0, mostLength * 2), against)
  return timingSafeEqual(hash, against.hash) && row !== undefined
}
const noSalt = Buffer.alloc(16)

function derive(password: string, row: Omit<PasswordRow, 'hash'>): Promise<Buffer> {
  const { salt, cost, block_size: blockSize, parallelization } = row
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
