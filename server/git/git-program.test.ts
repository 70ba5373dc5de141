import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { run } from '../lib/run.ts'
import { createGitProgram, type GitCall, records } from './git-program.ts'
import { commandLines, commit, git, newWorkTree, scratchDirectory } from './git-server.fixture.ts'

const { signal } = new AbortController()

async function scene(t: TestContext) {
  const directory = await scratchDirectory(t)
  const home = join(directory, 'home')
  await mkdir(home)
  const work = await newWorkTree(t)
  const head = await commit(work, { a: '1' })
  const gitDirectory = join(work, '.git')
  const ask = (args: readonly string[], more: Partial<GitCall> = {}): GitCall => ({
    args,
    gitDirectory,
    signal,
    timeoutMs: 10_000,
    ...more,
  })
  return { directory, canary: join(directory, 'canary'), program: createGitProgram(home), head, work, ask }
}

const remote = { url: new URL('https://93.184.216.34/a.git'), addresses: ['93.184.216.34'] }

for (const allowed of [undefined, remote]) {
  test(`even unchecked addresses run nothing and read nothing, ${allowed ? 'with' : 'without'} a remote`, async (t) => {
    const { directory, canary, program, work, ask } = await scene(t)
    const addresses = [
      `ext::touch ${canary}`, `EXT::touch ${canary}`, `file://${work}`, work, `ssh://-oProxyCommand=touch${canary}/x`,
      `--upload-pack=touch ${canary};`, `--exec=touch ${canary}`, 'http://127.0.0.1:9/x',
    ] // biome-ignore format: a table
    for (const address of addresses) {
      const call = ask(['ls-remote', '--end-of-options', address], allowed ? { remote: allowed } : {})
      await assert.rejects(program.run(call), { name: 'GitError' }, address)
      const fetch = ask(['fetch', '--end-of-options', address, `--upload-pack=touch ${canary};git-upload-pack`])
      await assert.rejects(program.run(fetch), { name: 'GitError' }, address)
    }
    assert.deepEqual(await readdir(directory), ['home'])
  })
}

test('the same branch name does run a program where git is not told where options end', async (t) => {
  const { work, canary } = await scene(t)
  await run('git', ['fetch', work, `--upload-pack=touch ${canary};git-upload-pack`], {
    cwd: work,
    env: { HOME: '/nonexistent' },
    timeoutMs: 10_000,
  })
  assert.deepEqual((await readdir(join(canary, '..'))).sort(), ['canary', 'home'])
})

test('configuration, hooks and aliases of a repository run nothing', async (t) => {
  const { directory, canary, program, work, head, ask } = await scene(t)
  await git(work, 'config', 'core.fsmonitor', `touch ${canary}`)
  await git(work, 'config', 'core.pager', `touch ${canary}`)
  await git(work, 'config', 'credential.helper', `!touch ${canary}`)
  const { stdout } = await program.run(ask(['log', '-1', '--format=%H', '--end-of-options', head, '--']))
  assert.equal(stdout.toString().trim(), head)
  assert.deepEqual(await readdir(directory), ['home'])
})

test('a destroyed stream ends git, and one beyond the limit fails', async (t) => {
  const { program, head, ask } = await scene(t)
  const stream = program.open(ask(['-c', 'alias.wait=!sleep 9173', 'wait']))
  await until('the program runs', async () => (await commandLines('sleep 9173')).length > 1)
  stream.destroy()
  await until('the program has ended', async () => (await commandLines('sleep 9173')).length === 0)
  const limited = program.open(ask(['archive', '--format=tar', '--end-of-options', head], { maxBytes: 100 }))
  await assert.rejects(limited.toArray(), { reason: 'limits' })
})

test('a stream fails when git fails, at the timeout and when the caller aborts', async (t) => {
  const { program, ask } = await scene(t)
  await assert.rejects(program.open(ask(['rev-list', '--end-of-options', 'f'.repeat(40)])).toArray(), {
    reason: 'commit',
  })
  const forever = ['-c', 'alias.wait=!sleep 100', 'wait']
  await assert.rejects(program.open(ask(forever, { timeoutMs: 100 })).toArray(), { reason: 'timeout' })
  const caller = new AbortController()
  const stream = program.open(ask(forever, { signal: caller.signal }))
  const reading = stream.toArray()
  caller.abort(new Error('enough'))
  await assert.rejects(reading, /enough/)
})

test('splits streams into records, without an unfinished one', async (t) => {
  const { program, head, ask } = await scene(t)
  const found = []
  for await (const record of records(program.open(ask(['ls-tree', '-z', '--end-of-options', head])), '\0'))
    found.push(record)
  assert.deepEqual(
    found.map((record) => record.split('\t')[1]),
    ['a'],
  )
})

test('joins the parts of one long record once', async () => {
  const parts = 10_000
  const chunks = Array.from({ length: parts }, () => Buffer.alloc(1000, 'x'))
  const found = []
  const began = process.cpuUsage()
  for await (const record of records(Readable.from([...chunks, Buffer.from('\0y\0')]), '\0')) found.push(record.length)
  assert.deepEqual(found, [parts * 1000, 1])
  const { user } = process.cpuUsage(began)
  assert.ok(user < 2_000_000, `${user} µs`)
})
