import { spawn } from 'node:child_process'
import { Refusal } from './progress.mjs'

/** @typedef {{ cwd?: string, env?: NodeJS.ProcessEnv }} Options */

const [headLength, tailLength] = [1500, 2500]

/**
 * Runs a program. Returns its exit code and its output without the middle if it is long. The code
 * is 127 if it is missing.
 * @param {string} program
 * @param {string[]} args
 * @param {Options} [options]
 * @returns {Promise<{ code: number, output: string }>}
 */
export function execute(program, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output = shorten(output + text)
      })
    }
    child.on('error', (error) => resolve({ code: 127, output: error.message }))
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

/**
 * Some programs print the cause of a failure first, others last.
 * @param {string} output
 */
function shorten(output) {
  if (output.length <= headLength + tailLength) return output
  return `${output.slice(0, headLength - 3)}\n…\n${output.slice(-tailLength)}`
}

/**
 * Runs a program. Throws a Refusal with its output and the advice if it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {Options & { advice: string }} options
 */
export async function mustExecute(program, args, { advice, ...options }) {
  const { code, output } = await execute(program, args, options)
  if (code !== 0) throw new Refusal(`${output.trim()}\n\n"${[program, ...args].join(' ')}" failed. ${advice}`)
}

/**
 * Runs a program in the foreground and forwards signals that end this process. Returns its exit
 * code.
 * @param {string} program
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>}
 */
export function handOver(program, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env })
    /** @param {NodeJS.Signals} signal */
    const forward = (signal) => child.kill(signal)
    process.on('SIGTERM', forward)
    process.on('SIGHUP', forward)
    // In a terminal, Ctrl-C reaches the child directly. A second signal would mean "at once".
    process.on('SIGINT', (signal) => !process.stdin.isTTY && forward(signal))
    child.on('error', reject)
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === 'SIGINT' ? 2 : signal === 'SIGTERM' ? 15 : 9)))
  })
}
