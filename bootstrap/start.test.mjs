import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

test('"npm start" passes SIGTERM on when a supervisor signals only npm', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-start-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  const { scripts } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  await writeFile(join(directory, 'package.json'), JSON.stringify({ scripts: { start: scripts.start } }))
  await mkdir(join(directory, 'bootstrap'))
  const program = `process.on('SIGTERM', () => { console.log('ended in order'); process.exit() })
    setTimeout(() => {}, 30_000)
    console.log('ready')`
  await writeFile(join(directory, 'bootstrap', 'start.mjs'), program)
  const npm = spawn('npm', ['start'], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const ended = once(npm.stdout, 'close')
  /** @type {Promise<void>} */
  const ready = new Promise((resolve) => {
    npm.stdout.setEncoding('utf8').on('data', (text) => {
      said += text
      if (/^ready$/m.test(said)) resolve()
    })
  })
  await ready
  npm.kill('SIGTERM')
  await ended
  assert.match(said, /^ended in order$/m)
})
