import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { prepareSessions } from './session-place.ts'

test('directories of processes that have ended are removed, and others are kept', async (t) => {
  const memory = await mkdtemp(join(tmpdir(), 'quayside-memory-'))
  t.after(() => rm(memory, { recursive: true }))
  const own = await prepareSessions(join(memory, 'data'), memory)
  const owner = await readFile(join(own, 'owner'), 'utf8')
  const running = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  t.after(() => running.kill())
  const make = async (name: string, text: string | undefined) => {
    await mkdir(join(memory, name), { mode: 0o700 })
    if (text !== undefined) await writeFile(join(memory, name, 'owner'), text)
  }
  const [space = ''] = owner.split(' ')
  await make('quayside-charts-gone', `${space} 999999999 1`)
  // Another process has the number now.
  await make('quayside-charts-reused', `${space} ${running.pid} 1`)
  await make('quayside-charts-elsewhere', 'pid:[1] 999999999 1')
  await make('quayside-charts-unknown', undefined)
  await make('another-directory', `${space} 999999999 1`)
  await prepareSessions(join(memory, 'other'), memory)
  const kept = (await readdir(memory)).filter((name) => /charts-(?:gone|reused|elsewhere|unknown)|another/.test(name))
  assert.deepEqual(kept.sort(), ['another-directory', 'quayside-charts-elsewhere', 'quayside-charts-unknown'])
  assert.equal(await readFile(join(own, 'owner'), 'utf8'), owner)
})

test('what an earlier process left for the same cluster is removed', async (t) => {
  const memory = await mkdtemp(join(tmpdir(), 'quayside-memory-'))
  t.after(() => rm(memory, { recursive: true }))
  const first = await prepareSessions(join(memory, 'data'), memory)
  await writeFile(join(first, 'values.json'), 'secret')
  assert.equal(await prepareSessions(join(memory, 'data'), memory), first)
  assert.deepEqual(await readdir(first), ['owner'])
})
