// `npm test`: checks types and lint, and runs all tests, up to the first failure. `--unit` runs
// only the quick tests beside the code, `--faults` only the long tests that break things.
import { readOptions } from './options.mjs'
import { prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'
import { runCheck, runTests } from './run-suite.mjs'
import { openScratch } from './scratch.mjs'
import { closingLine, listFiles, sortTests } from './suites.mjs'

/** @typedef {import('./suites.mjs').Counts} Counts */
/** @typedef {(more?: { print?: (text: string) => void }) => Promise<Counts>} Suite */

/**
 * Runs suites at the same time, because tests with an engine mostly wait. Shows the output of the
 * first as it comes, and the output of the others at their end. Returns the sums of their counts.
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

/** @typedef {{ title: string, files?: string[], run: Suite }} NamedSuite */

await main(async () => {
  const options = readOptions(['--unit', '--faults'])
  const only = options.includes('--unit') ? 'unit' : options.includes('--faults') ? 'faults' : undefined
  const needsEngine = only !== 'unit'
  const { node, env } = await prepare({ engine: needsEngine, testing: needsEngine })
  // An engine was just prepared. Without one, tests must fail instead of being skipped.
  const required = needsEngine ? { QUAYSIDE_REQUIRE_DOCKER: '1' } : {}
  // The long tests of faults fill disks, which must not be memory.
  const scratch = only === 'faults' ? undefined : openScratch()
  const temporary = scratch ? { TMPDIR: scratch.path } : {}
  process.once('exit', () => scratch?.remove())
  const settings = { cwd: root, env: { ...env, ...required, ...temporary, NODE_TEST_CONTEXT: undefined } }
  return await runAll(suitesOf(only, node, settings))
})

/**
 * @param {'unit' | 'faults' | undefined} only
 * @param {string} node
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} settings
 * @returns {NamedSuite[]}
 */
function suitesOf(only, node, settings) {
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
      runTests(node, files[name], { ...settings, ...limits, ...more, concurrency })
  if (only === 'unit') return [{ title: 'Tests beside the code', files: files.unit, run: tests('unit', 2) }]
  if (only === 'faults') {
    const limits = { timeoutSeconds: 600, limitMinutes: 180 }
    return [{ title: 'Faults', files: files.faults, run: tests('faults', 1, limits) }]
  }
  return [
    { title: 'Types', run: () => runCheck('tsc', ['--noEmit'], settings) },
    { title: 'Lint', run: () => runCheck('biome', ['check', '--error-on-warnings', '.'], settings) },
    { title: 'Tests', run: () => sideBySide([tests('fast', 2), tests('docker', 1)]) },
  ]
}

/**
 * Runs suites up to the first that fails. Returns the exit code.
 * @param {NamedSuite[]} suites
 */
async function runAll(suites) {
  const results = []
  for (const suite of suites) {
    // Without files the runner would search for test files.
    if (suite.files?.length === 0) continue
    console.log(`\n── ${suite.title}`)
    const result = await suite.run()
    results.push(result)
    if (result.failed > 0) break
  }
  console.log(`\n${closingLine(results)}`)
  return results.some((result) => result.failed > 0) ? 1 : 0
}
