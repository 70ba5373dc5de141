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

/** How a password is hashed. */
type Recipe = Omit<PasswordRow, 'hash'>

/**
 * Call it inside `inTurnOfClient`. `like` is the recipe of another account with the same address.
 * One hash then compares a password with all of them.
 */
export async function hashPassword(password: string, like?: Recipe): Promise<PasswordRow> {
  const { salt, cost, block_size, parallelization } = like ?? { ...today, salt: randomBytes(16) }
  const recipe = { salt, cost, block_size, parallelization }
  return { ...recipe, hash: await derive(password, recipe) }
}

/**
 * Returns the first row whose password it is. Call it inside `inTurnOfClient`. The time depends
 * only on the number of recipes, which is one unless two accounts were created at the same moment.
 * An address without an account takes the same time as one with an account.
 */
export async function findRight<Row extends PasswordRow>(
  password: string,
  rows: readonly Row[],
): Promise<Row | undefined> {
  const byRecipe = Map.groupBy(rows, recipeKey)
  const recipes = byRecipe.size > 0 ? [...byRecipe.values()] : [[]]
  for (const same of recipes) {
    const hash = await derive(password.slice(0, mostLength * 2), same[0] ?? { ...today, salt: noSalt })
    const right = same.find((row) => timingSafeEqual(hash, row.hash))
    if (right) return right
  }
  return undefined
}
const noSalt = Buffer.alloc(16)
const recipeKey = ({ salt, cost, block_size, parallelization }: Recipe): string =>
  `${salt.toString('hex')} ${cost} ${block_size} ${parallelization}`

function derive(password: string, row: Recipe): Promise<Buffer> {
  const { salt, cost, block_size: blockSize, parallelization } = row
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize }
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, hashBytes, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}
