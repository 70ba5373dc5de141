import { readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

const besideTheCode = ['bootstrap', 'contract', 'server', 'router', 'client', 'console', 'bench', 'test/screenshots']
const wholeSystem = ['test/accounts', 'test/attacks', 'test/contract', 'test/faults', 'test/kubernetes', 'test/support']
const withEngine = ['test/e2e', 'test/browser']
const ofTheSource = ['test/structure']

/**
 * Sorts test files (paths from the root, with `/`). `rules` check the source itself, within
 * seconds. `unit` tests are beside the code. `fast` adds tests of the whole system without an
 * engine. `docker` tests need a Docker Engine and run one file at a time. `faults` tests take long.
 * `kubernetes` tests need the test cluster.
 * @param {string[]} files
 */
export function sortTests(files) {
  /** @param {string} file */
  const isTest = (file) => /\.test\.(ts|mjs)$/.test(file)
  /**
   * @param {string} file
   * @param {string[]} directories
   */
  const isIn = (file, directories) => directories.some((directory) => file.startsWith(`${directory}/`))
  /** @param {string} file */
  const needsEngine = (file) => /\.docker\.test\.ts$/.test(file) || isIn(file, withEngine)
  const tests = files.filter(isTest).sort()
  const unit = tests.filter((file) => isIn(file, besideTheCode) && !needsEngine(file))
  const rules = tests.filter((file) => isIn(file, ofTheSource))
  const system = tests.filter((file) => !needsEngine(file) && isIn(file, wholeSystem))
  /** @param {RegExp} ending */
  const withEnding = (ending) => files.filter((file) => ending.test(file)).sort()
  const [faults, kubernetes] = [withEnding(/\.faults\.ts$/), withEnding(/\.kubernetes\.ts$/)]
  return { rules, unit, fast: [...unit, ...system], docker: tests.filter(needsEngine), faults, kubernetes }
}

/**
 * Lists the files below `root` as relative paths, without packages and hidden directories.
 * @param {string} root
 * @returns {string[]}
 */
export function listFiles(root, directory = root) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
    const path = join(directory, entry.name)
    return entry.isDirectory() ? listFiles(root, path) : [relative(root, path).split(sep).join('/')]
  })
}

/**
 * Returns the last counts in the output of Node's test runner, or zeros if it printed none.
 * @param {string} output
 * @returns {Counts}
 */
export function readCounts(output) {
  /** @param {string} name */
  const count = (name) => {
    const lines = [...output.matchAll(new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm'))]
    return Number(lines.at(-1)?.[1] ?? 0)
  }
  return {
    passed: count('pass'),
    failed: count('fail') + count('cancelled'),
    skipped: count('skipped') + count('todo'),
  }
}

/**
 * Returns the closing line with the sums of all suites.
 * @param {Counts[]} results
 */
export function closingLine(results) {
  /** @param {keyof Counts} name */
  const sum = (name) => results.reduce((total, result) => total + result[name], 0)
  return `${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`
}
