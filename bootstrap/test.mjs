// `npm test`: types, lint and all tests, up to the first that is red; `--unit` runs the quick tests beside the code
// alone, `--faults` those that break things for long.
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'
import { runCheck, runTests } from './run-suite.mjs'
import { openScratch } from './scratch.mjs'
import { closingLine, listFiles, sortTests } from './suites.mjs'

/** @typedef {(more?: { print?: (text: string) => void }) => Promise<import('./suites.mjs').Counts>} Suite */

/**
 * Runs suites at the same time, for those that use an engine wait most of theirs. What the first prints is shown as it comes, what the
 * others print when they have ended. Gives the counts of all.
 * @param {[Suite, ...Suite[]]} suites
 */
async function sideBySide([first, ...others]) {
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
  /** @param {keyof import('./suites.mjs').Counts} name */
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0)
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') }
}

await main(async () => {
  const unitOnly = process.argv.includes('--unit')
  const faultsOnly = process.argv.includes('--faults')
  const { node, env } = await prepare({ engine: !unitOnly, testing: !unitOnly })
  // Tests that need an engine fail without one instead of being skipped: it was prepared just now.
  const required = unitOnly ? {} : { QUAYSIDE_REQUIRE_DOCKER: '1' }
  // What breaks things for long also fills disks.
  const scratch = faultsOnly ? undefined : openScratch()
  const temporary = scratch ? { TMPDIR: scratch.path } : {}
  process.once('exit', () => scratch?.remove())
  const options = { cwd: root, env: { ...env, ...required, ...temporary, NODE_TEST_CONTEXT: undefined } }
  const files = sortTests(listFiles(root))
  /**
   * @param {keyof typeof files} name
   * @param {number} concurrency
   * @param {{ timeoutSeconds?: number, limitMinutes?: number }} limits
   * @returns {Suite}
   */
  const tests =
    (name, concurrency, limits = {}) =>
    (more = {}) =>
      runTests(node, files[name], { ...options, ...limits, ...more, concurrency })
  const only = [
    ...(unitOnly ? [{ title: 'Tests beside the code', files: files.unit, run: tests('unit', 2) }] : []),
    ...(faultsOnly
      ? [{ title: 'Faults', files: files.faults, run: tests('faults', 1, { timeoutSeconds: 600, limitMinutes: 180 }) }]
      : []),
  ]
  /** @type {{ title: string, files?: string[], run: Suite }[]} */
  const suites =
    only.length > 0
      ? only
      : [
          { title: 'Types', run: () => runCheck('tsc', ['--noEmit'], options) },
          { title: 'Lint', run: () => runCheck('biome', ['check', '--error-on-warnings', '.'], options) },
          { title: 'Tests', run: () => sideBySide([tests('fast', 2), tests('docker', 1)]) },
        ]
  const results = []
  for (const suite of suites) {
    // Without files the runner would look for some by itself.
    if (suite.files?.length === 0) continue
    console.log(`\n── ${suite.title}`)
    const result = await suite.run()
    results.push(result)
    if (result.failed > 0) break
  }
  console.log(`\n${closingLine(results)}`)
  return results.some((result) => result.failed > 0) ? 1 : 0
})
