import { randomInt } from 'node:crypto'
import { createRandom, type Random } from '../fuzz/random.ts'

const given = process.env['QUAYSIDE_TEST_SEED']
/** The seed of this run. Set `QUAYSIDE_TEST_SEED` to repeat a failure. */
const seed = given === undefined || given === '' ? randomInt(2 ** 31) : Number(given)
if (!Number.isSafeInteger(seed) || seed < 0)
  throw new Error(`QUAYSIDE_TEST_SEED must be a whole number, not "${given}"`)

let isPrinted = false

/**
 * Returns random numbers of this run and prints how to repeat them. Different names give
 * independent numbers.
 */
export function seeded(test: { diagnostic(message: string): void }, name = ''): Random {
  if (!isPrinted) test.diagnostic(`to repeat this run: QUAYSIDE_TEST_SEED=${seed}`)
  isPrinted = true
  let mixed = seed
  for (const character of name) mixed = (Math.imul(mixed, 31) + character.charCodeAt(0)) >>> 0
  return createRandom(mixed)
}
