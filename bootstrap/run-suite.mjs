import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from './error-code.mjs'
import { readCounts } from './suites.mjs'

/**
 * @typedef {{
 *   cwd: string,
 *   env: NodeJS.ProcessEnv,
 *   limitMinutes?: number,
 *   print?: (text: string) => void,
 * }} ShowOptions
 */

/** A suite that takes longer hangs, unless it has its own limit. */
const suiteLimitMinutes = 45

/**
 * Runs a check such as types or lint, and shows its output. It counts only when it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {ShowOptions} options
 */
export async function runCheck(program, args, options) {
  const { code } = await show(program, args, options)
  return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 }
}

/**
 * Runs test files with Node's runner, shows its output, and returns its counts. There is at least
 * one failure if the runner fails or reports no counts. The counts come from a file, because a
 * runner that is forced to exit may lose the end of what it writes to a pipe. whole-reports.mjs
 * prevents the same loss between the runner and its test files, and sure-ends.mjs that one of them
 * hangs at its end.
 * @param {string} node
 * @param {string[]} files
 * @param {ShowOptions & { concurrency: number, timeoutSeconds?: number }} options
 * @returns {Promise<import('./suites.mjs').Counts>}
 */
export async function runTests(node, files, { concurrency, timeoutSeconds = 120, ...options }) {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-suite-'))
  const report = join(directory, 'report.tap')
  const flags = [
    '--test',
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=tap',
    `--test-reporter-destination=${report}`,
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${timeoutSeconds * 1000}`,
    '--test-force-exit',
    ...['./whole-reports.mjs', './sure-ends.mjs'].map((path) => `--import=${import.meta.resolve(path)}`),
  ]
  try {
    const { code } = await show(node, [...flags, ...files], options)
    const counts = readCounts(await readFile(report, 'utf8').catch(absent))
    const hasCounts = counts.passed + counts.failed + counts.skipped > 0
    if (!hasCounts) console.error('The test runner ended without reporting its counts.')
    return counts.failed === 0 && (code !== 0 || !hasCounts) ? { ...counts, failed: 1 } : counts
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * Returns an empty report if the runner wrote none.
 * @param {unknown} error
 */
const absent = (error) => {
  if (codeOf(error) !== 'ENOENT') throw error
  return ''
}

/**
 * Runs a program and shows its output. Returns its exit code.
 * @param {string} program
 * @param {string[]} args
 * @param {ShowOptions} options
 * @returns {Promise<{ code: number }>}
 */
async function show(program, args, options) {
  const { cwd, env, limitMinutes = suiteLimitMinutes, print = (text) => process.stdout.write(text) } = options
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  child.stdout.setEncoding('utf8').on('data', print)
  const release = limitLife(child, program, limitMinutes)
  const code = await exitCodeOf(child, program)
  release()
  child.stdout.destroy()
  return { code }
}

/**
 * Ends the process group of a program after the limit, and when this process gets a signal to end.
 * Returns a function that stops watching.
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} program
 * @param {number} limitMinutes
 */
function limitLife(child, program, limitMinutes) {
  /** @param {NodeJS.Signals} signal */
  const endAll = (signal) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal)
    } catch {
      // It has ended already.
    }
  }
  const limit = setTimeout(() => {
    console.error(`\n${program} did not end within ${limitMinutes} minutes and was stopped.`)
    endAll('SIGKILL')
  }, limitMinutes * 60_000)
  /** @param {NodeJS.Signals} signal */
  const onSignal = (signal) => {
    endAll(signal)
    process.exitCode = 1
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, onSignal)
  return () => {
    clearTimeout(limit)
    for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, onSignal)
  }
}

/**
 * Waits until a program ends and its output is read. Processes that it left behind may keep the
 * pipe open, so this waits at most one second for output.
 * @param {import('node:child_process').ChildProcess} child
 * @param {string} program
 * @returns {Promise<number>}
 */
function exitCodeOf(child, program) {
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${program} could not be started: ${error.message}`)
      resolve(127)
    })
    child.on('exit', (code) => {
      const late = setTimeout(() => resolve(code ?? 1), 1000)
      child.once('close', () => {
        clearTimeout(late)
        resolve(code ?? 1)
      })
    })
  })
}
