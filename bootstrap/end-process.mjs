import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from './error-code.mjs'
import { readIfThere } from './system.mjs'

/**
 * Waits until the condition holds. Returns false after the limit.
 * @param {() => boolean | Promise<boolean>} condition
 * @param {number} limitMs
 */
export async function waitUntil(condition, limitMs) {
  for (const end = performance.now() + limitMs; performance.now() < end; await delay(20)) {
    if (await condition()) return true
  }
  return false
}

/**
 * Whether the process runs: not gone, and not only waiting to be reaped.
 * @param {number} pid
 */
export const isAlive = (pid) => /^\d+ \(.*\) [^ZX]/.test(readIfThere(`/proc/${pid}/stat`))

/**
 * Sends a signal; a process that is gone is fine.
 * @param {number} pid
 * @param {NodeJS.Signals} name
 */
export function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error
  }
}
