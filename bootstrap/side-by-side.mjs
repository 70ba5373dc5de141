/** @typedef {import('./suites.mjs').Counts} Counts */
/** @typedef {(more?: { print?: (text: string) => void }) => Promise<Counts>} Suite */

/**
 * Runs suites at the same time, because tests with an engine mostly wait. Shows the output of the
 * first as it comes, and the output of the others at their end. Returns the sums of their counts.
 * @param {readonly [Suite, ...Suite[]]} suites
 */
export async function sideBySide([first, ...others]) {
  const running = others.map(async (suite) => {
    /** @type {string[]} */
    const printed = []
    const counts = await suite({ print: (text) => printed.push(text) })
    return { counts, text: printed.join('') }
  })
  const all = [await first()]
  for (const { counts, text } of await Promise.all(running)) {
    process.stdout.write(text)
    all.push(counts)
  }
  /** @param {keyof Counts} name */
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}
