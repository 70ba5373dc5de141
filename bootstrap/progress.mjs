/** A failure that the reader can do something about: its message is all that is shown. */
export class Refusal extends Error {}

/**
 * Says what is being done, does it, and says how long that took. What it costs nothing to check is not said.
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

/** What a terminal would obey. Messages quote other programs, and command lines of other users. */
const obeyed = /(?![\n\t])\p{Cc}/gu

/**
 * Runs a program of the bootstrap; a Refusal is shown as one message, anything else with its stack. Sets the exit code.
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
