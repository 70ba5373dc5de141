import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { AppError } from '../lib/error.ts'
import { createSlots } from '../lib/slots.ts'
import type { PasswordRow } from './password-store.ts'

/** 32 MiB and a quarter of a second for each attempt; of the figures that OWASP gives, the one that takes the least memory. */
const today = { cost: 2 ** 15, block_size: 8, parallelization: 3 }
const hashBytes = 32
const leastLength = 12
const mostLength = 200
/** Attempts that are worked on at the same time: each takes memory and a thread. */
const slots = createSlots(2)
const patienceMs = 15_000

/** Refuses what is too short to be a password, or too long to be worth hashing. */
export function checkPassword(field: string, password: string): string {
  const length = [...password].length
  if (length >= leastLength && length <= mostLength) return password
  throw new AppError('invalid', `${field} must have from ${leastLength} to ${mostLength} characters.`)
}

export async function hashPassword(password: string): Promise<PasswordRow> {
  const salt = randomBytes(16)
  return { ...today, salt, hash: await derive(password, { ...today, salt }) }
}

/** Takes as long for an account that does not exist: `row` undefined is compared with what nothing is equal to. */
export async function isPassword(password: string, row: PasswordRow | undefined): Promise<boolean> {
  const against = row ?? { ...today, salt: noSalt, hash: randomBytes(hashBytes) }
  const hash = await derive(password.slice(0, mostLength * 2), against)
  return timingSafeEqual(hash, against.hash) && row !== undefined
}
const noSalt = Buffer.alloc(16)

function derive(password: string, row: Omit<PasswordRow, 'hash'>): Promise<Buffer> {
  const { salt, cost, block_size: blockSize, parallelization } = row
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize }
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  return slots.run(AbortSignal.timeout(patienceMs), work)
}
