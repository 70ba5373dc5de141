// `npm test`: checks types, lint and the rules of the source, and runs all tests, up to the first
// failure. `--check` runs no tests of behaviour, `--unit` only the quick tests beside the code,
// `--faults` only the long tests that break things, `--kubernetes` only the tests on a cluster,
// which it starts and removes. `--with-kubernetes` adds the short ones of those to all other tests
// if nothing must be built for them.
import { readOptions } from './options.mjs'
import { isApt, prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'
import { runCheck, runTests } from './run-suite.mjs'
import { openScratch } from './scratch.mjs'
import { closingLine, listFiles, sortTests } from './suites.mjs'
import { listUnbuilt, whyNoCluster, withCluster } from './test-cluster.mjs'

/** Tests on a cluster that take two minutes together. All of them take more than an hour. */
const shortPart = /\/(?:walk|check|without-docker)\.kubernetes\.ts$/

/** Whole stacks and a browser take long on a slow machine, and one file runs at a time. */
const withEngine = { timeoutSeconds: 300, limitMinutes: 60 }

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
  const options = readOptions(['--check', '--unit', '--faults', '--kubernetes', '--with-kubernetes'])
  const only = ['check', 'unit', 'faults', 'kubernetes'].find((name) => options.includes(`--${name}`))
  const needsEngine = only !== 'unit' && only !== 'check'
  const { node, env } = await prepare({ engine: needsEngine, testing: needsEngine })
  // An engine was just prepared. Without one, tests must fail instead of being skipped.
  const required = needsEngine ? { QUAYSIDE_REQUIRE_DOCKER: '1' } : {}
  // The long tests of faults fill disks, which must not be memory.
  const scratch = only === 'faults' ? undefined : openScratch()
  const temporary = scratch ? { TMPDIR: scratch.path } : {}
  process.once('exit', () => scratch?.remove())
  const settings = { cwd: root, env: { ...env, ...required, ...temporary, NODE_TEST_CONTEXT: undefined } }
  const suites = suitesOf(only, node, settings)
  if (options.includes('--with-kubernetes')) suites.push(kubernetesIfBuilt(node, settings))
  return await runAll(suites)
})

/**
 * @param {string | undefined} only
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
  if (only === 'kubernetes') return [onKubernetes(node, settings)]
  const checks = [
    { title: 'Types', run: () => runCheck('tsc', ['--noEmit'], settings) },
    { title: 'Types of the console', run: () => runCheck('tsc', ['--noEmit', '--project', 'console'], settings) },
    { title: 'Lint', run: () => runCheck('biome', ['check', '--error-on-warnings', '.'], settings) },
    { title: 'Rules of the source', files: files.rules, run: tests('rules', 2) },
  ]
  if (only === 'check') return checks
  return [...checks, { title: 'Tests', run: () => sideBySide([tests('fast', 2), tests('docker', 1, withEngine)]) }]
}

/**
 * The tests on a cluster whose files match `part`. Where none can run, they are skipped with a line
 * that says why.
 * @param {string} node
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} settings
 * @param {RegExp} part
 * @returns {NamedSuite}
 */
function onKubernetes(node, settings, part = /(?:)/) {
  const kubernetes = sortTests(listFiles(root)).kubernetes.filter((file) => part.test(file))
  const limits = { timeoutSeconds: 300, limitMinutes: 120 }
  const run = async () => {
    const reason = whyNoCluster({ isApt: isApt(), isRoot: process.getuid?.() === 0 })
    if (reason !== undefined) return skipped(reason)
    const place = { root, node, env: settings.env }
    return await withCluster(place, () => runTests(node, kubernetes, { ...settings, ...limits, concurrency: 1 }))
  }
  return { title: 'Kubernetes', files: kubernetes, run }
}

/**
 * @param {string} node
 * @param {{ cwd: string, env: NodeJS.ProcessEnv }} settings
 * @returns {NamedSuite}
 */
function kubernetesIfBuilt(node, settings) {
  const suite = onKubernetes(node, settings, shortPart)
  const run = async () => {
    const unbuilt = await listUnbuilt({ root, node, env: settings.env })
    if (unbuilt.length === 0) return await suite.run()
    return skipped(`these are not built yet: ${unbuilt.join(', ')}. "npm run test:kubernetes" builds them`)
  }
  return { ...suite, run }
}

/** @param {string} reason */
function skipped(reason) {
  console.log(`Tests on Kubernetes are skipped: ${reason}.`)
  return { passed: 0, failed: 0, skipped: 0 }
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
