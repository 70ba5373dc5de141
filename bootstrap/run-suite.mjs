import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from './error-code.mjs'
import { readCounts } from './suites.mjs'

/** @typedef {{ cwd: string, env: NodeJS.ProcessEnv, limitMinutes?: number, print?: (text: string) => void }} ShowOptions */

/** A suite that has not ended by then hangs, unless it is given longer. */
const suiteLimitMinutes = 30

/**
 * Runs one check (types, lint), showing its output. It counts only when it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {ShowOptions} options
 */
export async function runCheck(program, args, options) {
  const { code } = await show(program, args, options)
  return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 }
}

/**
 * Runs test files with Node's runner, showing its output, and gives its counts. Never without a failure when it went wrong, or does not say
 * how many there were. The counts come by a file, and the files' own reports whole: of what is written to a pipe, who is made to exit may
 * lose the end.
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
    `--import=${import.meta.resolve('./whole-reports.mjs')}`,
  ]
  try {
    const { code } = await show(node, [...flags, ...files], options)
    const counts = readCounts(await readFile(report, 'utf8').catch(absent))
    const isTold = counts.passed + counts.failed + counts.skipped > 0
    if (!isTold) console.error('The runner of the tests ended without saying how many there were.')
    return counts.failed === 0 && (code !== 0 || !isTold) ? { ...counts, failed: 1 } : counts
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/**
 * The runner did not get as far as that.
 * @param {unknown} error
 */
const absent = (error) => {
  if (codeOf(error) !== 'ENOENT') throw error
  return ''
}

/**
 * Shows a program's output as it comes; gives its exit code.
 * @param {string} program
 * @param {string[]} args
 * @param {ShowOptions} options
 * @returns {Promise<{ code: number }>}
 */
function show(
  program,
  args,
  { cwd, env, limitMinutes = suiteLimitMinutes, print = (text) => process.stdout.write(text) },
) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    child.stdout.setEncoding('utf8').on('data', print)
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
    /** @param {number} code */
    const finish = (code) => {
      clearTimeout(limit)
      for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, onSignal)
      child.stdout.destroy()
      resolve({ code })
    }
    child.on('error', (error) => {
      console.error(`${program} could not be started: ${error.message}`)
      finish(127)
    })
    // What a test left behind may keep the pipe open: a second after the end, nobody waits for it any more.
    child.on('exit', (code) => {
      const late = setTimeout(() => finish(code ?? 1), 1000)
      child.once('close', () => {
        clearTimeout(late)
        finish(code ?? 1)
      })
    })
  })
}
