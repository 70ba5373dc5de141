import { Refusal } from './progress.mjs'

/**
 * Returns the options of the command line. Throws a Refusal if one of them is not known.
 * @param {readonly string[]} known
 */
export function readOptions(known, given = process.argv.slice(2)) {
  const unknown = given.filter((option) => !known.includes(option))
  if (unknown.length > 0) {
    const advice = known.length > 0 ? `Known options: ${known.join(', ')}.` : 'This command has no options.'
    throw new Refusal(`There is no option ${unknown.join(' ')}. ${advice}`)
  }
  return given
}
