import { spawn } from 'node:child_process'
import { readCounts } from './suites.mjs'

const tailLength = 1_000_000
/** A suite that has not ended by then hangs, unless it is given longer. */
const suiteLimitMinutes = 30

/** Runs one check (types, lint), showing its output. It counts only when it fails. */
export async function runCheck(program, args, options) {
  const { code } = await show(program, args, options)
  return { passed: 0, failed: code === 0 ? 0 : 1, skipped: 0 }
}

/** Runs test files with Node's runner, showing its output, and gives its counts. Never without a failure when it went wrong. */
export async function runTests(node, files, { concurrency, timeoutSeconds = 120, ...options }) {
  const flags = [
    '--test',
    '--test-reporter=spec',
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${timeoutSeconds * 1000}`,
    '--test-force-exit',
  ]
  const { code, output } = await show(node, [...flags, ...files], options)
  const counts = readCounts(output)
  return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
}

/** Shows a program's output as it comes; gives its exit code and the end of the output, without colours. */
function show(
  program,
  args,
  { cwd, env, limitMinutes = suiteLimitMinutes, print = (text) => process.stdout.write(text) },
) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      print(text)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the character that begins a colour
      output = (output + text.replace(/\u001B\[[\d;]*m/g, '')).slice(-tailLength)
    })
    const endAll = (signal) => {
      try {
        process.kill(-child.pid, signal)
      } catch {
        // It has ended already.
      }
    }
    const limit = setTimeout(() => {
      console.error(`\n${program} did not end within ${limitMinutes} minutes and was stopped.`)
      endAll('SIGKILL')
    }, limitMinutes * 60_000)
    const onSignal = (signal) => {
      endAll(signal)
      process.exitCode = 1
    }
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, onSignal)
    const finish = (code) => {
      clearTimeout(limit)
      for (const signal of ['SIGINT', 'SIGTERM']) process.removeListener(signal, onSignal)
      child.stdout.destroy()
      resolve({ code, output })
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
