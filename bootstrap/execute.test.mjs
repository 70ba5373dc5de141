import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { execute, mustExecute } from './execute.mjs'

test('execute returns the exit code and the output, and 127 when the program is missing', async () => {
  const program = 'console.log("out"); console.error("err"); process.exit(3)'
  assert.deepEqual(await execute(process.execPath, ['-e', program]), { code: 3, output: 'out\nerr\n' })
  assert.equal((await execute('/nonexistent/program', [])).code, 127)
})

test('execute keeps the beginning and the end when the output is long', async () => {
  const program = 'console.log("first"); for (let i = 0; i < 3000; i++) console.log("line " + i); console.log("last")'
  const { output } = await execute(process.execPath, ['-e', program])
  assert.ok(output.length <= 4000, `${output.length} characters`)
  assert.match(output, /^first\nline 0\n[\s\S]*\n…\n[\s\S]*line 2999\nlast\n$/)
})

test('mustExecute throws the output and the advice when the program fails', async () => {
  await assert.rejects(
    mustExecute(process.execPath, ['-e', 'console.log("why"); process.exit(1)'], { advice: 'Do this.' }),
    /^Error: why\n\n".*" failed\. Do this\.$/,
  )
})

test('handOver passes arguments and signals on, and returns the exit code', async () => {
  const child =
    'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log(process.argv[1])'
  const program = `
    import { handOver } from ${JSON.stringify(new URL('execute.mjs', import.meta.url).href)}
    process.exitCode = await handOver(process.execPath, ['-e', ${JSON.stringify(child)}, '--', '--port=1'], process.env)`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout.setEncoding('utf8'), 'data')
  assert.equal(line, '--port=1\n')
  parent.kill('SIGTERM')
  assert.deepEqual(await once(parent, 'exit'), [7, null])
})
