import { unhandledMessage } from '../../server/lib/unhandled.ts'
import { unlistedMessage } from '../../server/services/state-store.ts'

/**
 * Messages that only a bug of the server can cause, whatever a test does to the machine, the engine
 * or the database.
 */
const bugs = [unlistedMessage, unhandledMessage]
const found: string[] = []

/**
 * Checks a line that a server printed. If it has one of these messages, the process of the test
 * file or of the benchmark ends with an error.
 */
export function noteLine(line: string): void {
  if (bugs.some((message) => line.includes(message))) found.push(line)
}

process.on('exit', () => {
  if (found.length === 0) return
  process.exitCode = 1
  process.stderr.write(`A server logged a bug of its own:\n${found.join('\n')}\n`)
})
