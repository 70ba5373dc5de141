import { after } from 'node:test'
import { unlistedMessage } from '../../server/services/state-store.ts'

/**
 * Messages that only a bug of the server logs, whatever a test does to the machine, the engine or
 * the database.
 */
const bugs = [unlistedMessage]
const found: string[] = []

/**
 * Looks at a line that a server printed. A line with one of these messages fails the test file at
 * its end.
 */
export function noteLine(line: string): void {
  if (bugs.some((message) => line.includes(message))) found.push(line)
}

after(() => {
  if (found.length === 0) return
  // A hook of the whole file counts as a failed test, but leaves the exit code as it is.
  process.exitCode = 1
  throw new Error(`A server logged a bug of its own:\n${found.join('\n')}`)
})
