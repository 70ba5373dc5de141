// `npm test`: checks types, lint and the rules of the source, and runs all tests, up to the first
// failure. `--check` runs no tests of behaviour, `--unit` only the quick tests beside the code,
// `--faults` only the long tests that break things, `--kubernetes` only the tests on a cluster,
// which it starts and removes. `--with-kubernetes` adds the short ones of those to all other tests
// if nothing must be built for them. `--haproxies` runs only the tests with HAProxy, with the
// HAProxy of each later release of Debian. `--with-haproxies` adds that to all other tests.
import { haproxySuites } from './haproxy-suites.mjs'
import { readOptions } from './options.mjs'
import { isApt, prepare, root } from './prepare.mjs'
import { main } from './progress.mjs'
import { runCheck, runTests } from './run-suite.mjs'
import { openScratch } from './scratch.mjs'
import { sideBySide } from './side-by-side.mjs'
import { closingLine, listFiles, sortTests } from './suites.mjs'
import { listUnbuilt, whyNoCluster, withCluster } from './test-cluster.mjs'

/** Tests on a cluster that take two minutes together. All of them take more than an hour. */
const shortPart = /\/(?:walk|check|without-docker)\.kubernetes\.ts$/

/** Whole stacks and a browser take long on a slow machine, and one file runs at a time. */
const withEngine = { timeoutSeconds: 300, limitMinutes: 60 }

/** @typedef {import('./side-by-side.mjs').Suite} Suite */
/** @typedef {{ title: string, files?: string[], run: Suite }} NamedSuite */

await main(async () => {
  const alone = ['check', 'unit', 'faults', 'kubernetes', 'haproxies']
  const added = ['--with-haproxies', '--with-kubernetes']
  const options = readOptions([...alone.map((name) => `--${name}`), ...added])
  const only = alone.find((name) => options.includes(`--${name}`))
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
  if (options.includes('--with-haproxies')) suites.push(...haproxySuites(node, settings, withEngine))
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
  if (only === 'haproxies') return haproxySuites(node, settings, withEngine)
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
