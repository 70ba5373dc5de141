import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { run } from '../../server/lib/run.ts'

const support = new URL('../support/', import.meta.url)

/**
 * Runs a passing test file whose server printed the line. Returns what the runner printed, and its
 * exit code.
 */
async function runFileWith(line: string) {
  const file = `
    import { once } from 'node:events'
    import { test } from 'node:test'
    import { watchOutput } from '${new URL('launch-server.ts', support)}'
    import { Readable } from 'node:stream'
    const output = []
    test('passes', async () => {
      const printed = Readable.from(['first\\n', process.env.LINE + '\\n'])
      watchOutput([printed], output)
      await once(printed, 'close')
    })`
  const args = ['--input-type=module-typescript', '--eval', file]
  const options = { env: { LINE: line }, timeoutMs: 60_000, stdin: '', cwd: fileURLToPath(support) }
  const { stdout, stderr, exitCode } = await run(process.execPath, args, options)
  return { exitCode, printed: `${stdout}${stderr}` }
}

test('a server that logs a state change outside the table fails the test file', async () => {
  const message = 'the state of a service changed in a way that the table of transitions does not allow'
  const { exitCode, printed } = await runFileWith(`{"level":50,"service":"x","msg":"${message}"}`)
  assert.equal(exitCode, 1, printed)
  assert.match(printed, /A server logged a bug of its own:\s+\{"level":50,"service":"x"/)
})

test('a server that logs an error that a fault causes does not fail the test file', async () => {
  const { exitCode, printed } = await runFileWith('{"level":50,"msg":"PostgreSQL could not be started"}')
  assert.equal(exitCode, 0, printed)
})
