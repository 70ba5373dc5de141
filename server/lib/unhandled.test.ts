import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './run.ts'

const moduleUrl = new URL('unhandled.ts', import.meta.url)

/** Runs a program that prints what `reportUnhandled` logs. */
async function runProgram(rest: string) {
  const program = `
    import { reportUnhandled } from '${moduleUrl}'
    reportUnhandled({ error: ({ err }, message) => console.log(message, err.message) })
    setTimeout(() => console.log('later'), 50)
    ${rest}`
  const args = ['--input-type=module-typescript', '--eval', program]
  const { exitCode, stdout } = await run(process.execPath, args, { timeoutMs: 60_000, stdin: '' })
  return { exitCode, printed: stdout.toString() }
}

test('a rejected promise that nothing waits for is logged, and the process continues', async () => {
  const { exitCode, printed } = await runProgram(`void Promise.reject(new Error('lost'))`)
  assert.equal(exitCode, 0)
  assert.match(printed, /^a promise was rejected and nothing handled it.* lost\nlater\n$/)
})

test('an exception that nothing catches ends the process', async () => {
  const { exitCode, printed } = await runProgram(`setTimeout(() => { throw new Error('broken') }, 1)`)
  assert.notEqual(exitCode, 0)
  assert.equal(printed, '')
})
