import assert from 'node:assert/strict'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import postgres from 'postgres'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { run } from '../../server/lib/run.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// PostgreSQL is full, crowded, deaf, or ends its sessions: answers stay short and honest, and everything heals alone.

const skip = process.getuid?.() === 0 ? false : 'a small disk of its own needs root'
const volume = '/tmp/quayside-small-disk'
let server: ServerProcess
let application: TestApplication

before(async () => {
  if (skip) return
  await mkdir(volume, { recursive: true })
  const mounted = await run('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', volume], { timeoutMs: 5000 })
  assert.equal(mounted.exitCode, 0, String(mounted.stderr))
  server = await startServer({ dataDirectory: join(volume, 'data') })
  application = await makeWeb(server)
  await application.run(web('first'))
})
after(async () => {
  if (skip) return
  await application?.git.remove()
  await server?.close()
  await run('umount', ['--lazy', volume], { timeoutMs: 5000 })
  await rm(volume, { recursive: true, force: true })
})

const variables = (): string => `/application/${application.id}/environmentVariable`
let written = 0
/** One write, with how long its answer took. */
async function write(): Promise<{ status: number; message: string; ms: number }> {
  const began = now()
  const { status, body } = await server.api('POST', variables(), { key: `KEY_${written++}`, value: 'x'.repeat(20_000) })
  return { status, message: String(Object(body).message), ms: now() - began }
}
const heals = (): Promise<true> =>
  until('writes are acknowledged again', async () => (await write()).status === 201, { limitMs: 20_000 })

test('a full disk: writes are refused as unavailable, reads go on, and space is all it needs', { skip }, async () => {
  const ballast = join(volume, 'ballast')
  const { bavail, bsize } = await statfs(volume)
  await writeFile(ballast, Buffer.alloc(Math.max(0, bavail * bsize - 4096)))
  const refused = await until('a write is refused', async () => {
    const answer = await write()
    return answer.status !== 201 && answer
  })
  assert.equal(refused.status, 503, refused.message)
  assert.match(refused.message, /try again/i)
  const stored = await server.must<{ results: { key: string }[] }>('GET', variables())
  assert.ok(stored.results.length > 0)
  assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
  await rm(ballast)
  await heals()
  await application.run(web('after a full disk'))
})

test('all connections taken by others: refused within seconds, and well as soon as they go', { skip }, async () => {
  const host = join(server.dataDirectory, 'postgresql', 'socket')
  const greedy = Array.from({ length: 120 }, () =>
    postgres({ host, username: 'quayside', database: 'postgres', max: 1, onnotice: () => {}, connect_timeout: 5 }),
  )
  const held = await Promise.allSettled(greedy.map((one) => one`select 1`))
  assert.ok(
    held.some(({ status }) => status === 'rejected'),
    'connections were left',
  )
  // Its own pool is full of connections that it has; those that it loses it does not get back.
  await server.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'quayside%' and pid <> pg_backend_pid()`.catch(() => {})
  await Promise.allSettled(greedy.map((one) => one`select 1`))
  const answer = await write()
  assert.ok(answer.status === 201 || answer.status === 503, `${answer.status} ${answer.message}`)
  assert.ok(answer.ms < 6000, `answered after ${answer.ms} ms`)
  assert.equal((await fetch(`${server.apiUrl.replace('localhost', '127.0.0.1')}/health/live`)).status, 200)
  await Promise.all(greedy.map((one) => one.end({ timeout: 1 })))
  await heals()
})

test('a PostgreSQL that stands still keeps nobody waiting for long, and is waited for', { skip }, async () => {
  const postmaster = await findPostmaster(join(server.dataDirectory, 'postgresql', 'cluster'))
  assert.ok(postmaster)
  const backends = await server.sql<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
  const pids = [postmaster.pid, ...backends.map(({ pid }) => pid)]
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  try {
    const answers = await Promise.all(Array.from({ length: 50 }, write))
    for (const { status, message, ms } of answers) {
      assert.equal(status, 503, message)
      assert.ok(ms < 15_000, `answered after ${ms} ms`)
    }
    assert.equal((await fetch(`${server.apiUrl.replace('localhost', '127.0.0.1')}/health/live`)).status, 200)
    assert.deepEqual((await application.answer()).status, 200)
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
  await heals()
})

const failures = (): string => server.output.filter((line) => line.includes('a request failed')).join('\n')

test('sessions that are ended again and again double nothing: a key is written once', { skip }, async () => {
  const over = new AbortController()
  const made: string[] = []
  let next = 5
  const ending = (async () => {
    while (!over.signal.aborted) {
      await server.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`.catch(() => {})
      await until('a write was made meanwhile', () => made.length >= next || over.signal.aborted)
      next = made.length + 5
    }
  })()
  const once = async (n: number): Promise<void> => {
    const key = `ONCE_${n}`
    const headers = {
      authorization: `Token ${server.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    }
    const options = { method: 'POST', headers, body: JSON.stringify({ key, value: 'x' }) }
    await until(`${key} is acknowledged`, async () => {
      const url = `${server.apiUrl.replace('localhost', '127.0.0.1')}${variables()}`
      const { status } = await fetch(url, options)
      // 409 would mean that a lost answer was of a write that is there, and that the key did not tell.
      assert.ok(status === 201 || status === 503, `${key}: ${status}\n${failures()}`)
      return status === 201
    })
    made.push(key)
  }
  for (let n = 0; n < 100; n += 4) await Promise.all([0, 1, 2, 3].map((more) => once(n + more)))
  over.abort()
  await ending
  const { results } = await server.must<{ results: { key: string }[] }>('GET', variables())
  const stored = results.map(({ key }) => key).filter((key) => key.startsWith('ONCE_'))
  assert.equal(stored.length, 100)
  assert.equal(new Set(stored).size, 100)
})
