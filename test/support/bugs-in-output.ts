import { after } from 'node:test'
import { unhandledMessage } from '../../server/lib/unhandled.ts'
import { unlistedMessage } from '../../server/services/state-store.ts'

/**
 * Messages that only a bug of the server can cause, whatever a test does to the machine, the engine
 * or the database.
 */
const bugs = [unlistedMessage, unhandledMessage]
const found: string[] = []

/**
 * Checks a line that a server printed. If it has one of these messages, the test file fails at its
 * end.
 */
export function noteLine(line: string): void {
  if (bugs.some((message) => line.includes(message))) found.push(line)
}

after(() => {
  if (found.length === 0) return
  // A failing hook of the file counts as a failed test but does not set the exit code.
  process.exitCode = 1
  throw new Error(`A server logged a bug of its own:\n${found.join('\n')}`)
})
