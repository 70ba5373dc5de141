/** A failure that the reader can fix. Only its message is shown. */
export class Refusal extends Error {}

/**
 * Prints what is being done, does it, and prints how long that took.
 * @template T
 * @param {string} text
 * @param {() => T | Promise<T>} work
 */
export async function step(text, work) {
  const startedAt = performance.now()
  console.log(`${text} …`)
  const result = await work()
  console.log(`${text}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  return result
}

/**
 * Control characters, which a terminal obeys. Messages quote other programs and command lines of
 * other users.
 */
const obeyed = /(?![\n\t])\p{Cc}/gu

/**
 * Runs a program of bootstrap and sets the exit code. Shows only the message of a Refusal, and the
 * stack of other errors.
 * @param {() => number | Promise<number>} work
 */
export async function main(work) {
  try {
    process.exitCode = await work()
  } catch (error) {
    console.error(error instanceof Refusal ? `\n${error.message.replace(obeyed, '?')}` : error)
    process.exitCode = 1
  }
}
