import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import postgres from 'postgres'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { run } from '../../server/lib/run.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { printing, web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// PostgreSQL has a full disk or no free connections, is suspended, or its sessions are ended.
// Answers stay fast and correct, and the server recovers without help.

const skip = process.getuid?.() === 0 ? false : 'a small disk needs root'
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
const value = 'x'.repeat(20_000)
const acknowledged = new Set<string>()
const refused = new Set<string>()
/** Sends a write and measures its time. */
async function write(): Promise<{ status: number; message: string; ms: number }> {
  const began = now()
  const key = `KEY_${acknowledged.size + refused.size}_${randomUUID().slice(0, 8)}`
  const { status, body } = await server.api('POST', variables(), { key, value })
  ;(status === 201 ? acknowledged : refused).add(key)
  return { status, message: String(Object(body).message), ms: now() - began }
}
const heals = (): Promise<true> =>
  until('writes are acknowledged again', async () => (await write()).status === 201, { limitMs: 20_000 })

const health = async (kind: 'live' | 'ready'): Promise<number> =>
  (await fetch(`${server.apiUrl.replace('localhost', '127.0.0.1')}/health/${kind}`)).status

/**
 * Asserts that every acknowledged write is stored, refused writes are stored completely or not at
 * all, and nothing else is stored.
 */
async function assertWhole(): Promise<void> {
  const { results } = await server.must<{ results: { key: string; value: string }[] }>('GET', variables())
  const stored = new Map(results.filter(({ key }) => key.startsWith('KEY_')).map((one) => [one.key, one.value]))
  for (const key of acknowledged) assert.ok(stored.has(key), `${key} was acknowledged but is not stored`)
  for (const [key, found] of stored) {
    assert.ok(acknowledged.has(key) || refused.has(key), `nobody wrote ${key}`)
    assert.equal(found, value, `${key} is stored only in part`)
  }
}

test('a full disk refuses writes with 503, serves reads, and recovers once it has space', { skip }, async (t) => {
  await application.run(printing('prints'))
  const pid = server.pid()
  for (let n = 0; n < 5; n++) assert.equal((await write()).status, 201)
  const ballast = join(volume, 'ballast')
  t.after(() => rm(ballast, { force: true }))
  const { bavail, bsize } = await statfs(volume)
  // Other processes write at the same time, so less may fit.
  await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) =>
    assert.equal(error.code, 'ENOSPC'),
  )
  await until('writes are refused', async () => {
    const { status, message } = await write()
    if (status === 201) return false
    assert.equal(status, 503, message)
    assert.match(message, /try again/i)
    return refused.size >= 5
  })
  await assertWhole()
  // These lines need more than the space left in a partly used block.
  const asked = Array.from({ length: 300 }, (_, n) => `line-${n}-${'x'.repeat(200)}`)
  const printed = server.output.length
  for (const line of asked) {
    const began = now()
    assert.equal((await get(`${application.url}/${line}`)).status, 200)
    assert.ok(now() - began < 2000, `answered after ${now() - began} ms`)
  }
  const isLogRefused = () => server.output.slice(printed).some((line) => line.includes('lines could not be written'))
  await until('the log refuses these lines, too', isLogRefused)
  await rm(ballast)
  await heals()
  await assertWhole()
  await get(`${application.url}/line-afterwards`)
  const texts = await until('the line printed afterwards is stored', async () => {
    const lines = (await application.log()).map(({ message }) => message)
    return lines.some((text) => text === 'asked for /line-afterwards') && lines
  })
  const missing = asked.filter((line) => !texts.includes(`asked for /${line}`))
  assert.ok(
    missing.length === 0 || texts.some((text) => /^\d+ lines? (dropped|(is|are) not kept)/.test(text)),
    `${missing.length} lines are lost without a notice`,
  )
  assert.equal(server.pid(), pid, 'the server has restarted')
  assert.deepEqual(await application.answer(), { status: 200, body: 'prints' })
  await application.run(web('after a full disk'))
  await assertWhole()
})

test('a server without database connections refuses writes within seconds and recovers once it has one', {
  skip,
}, async (t) => {
  const host = join(server.dataDirectory, 'postgresql', 'socket')
  const greedy = Array.from({ length: 120 }, () =>
    postgres({ host, username: 'quayside', database: 'postgres', max: 1, onnotice: () => {}, connect_timeout: 5 }),
  )
  const giveBack = () => Promise.all(greedy.map((one) => one.end({ timeout: 1 })))
  t.after(giveBack)
  const held = await Promise.allSettled(greedy.map((one) => one`select 1`))
  assert.ok(
    held.some(({ status }) => status === 'rejected'),
    'connections were still free',
  )
  await until('the server has no connection left', async () => {
    // The server's pool keeps its connections. Once they are ended, other clients usually take them
    // first.
    await server.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'quayside%'`
    await Promise.allSettled(greedy.map((one) => one`select 1`))
    const left = await server.sql`select from pg_stat_activity where application_name like 'quayside%'`
    return left.length === 0
  })
  for (let n = 0; n < 5; n++) {
    const answer = await write()
    assert.equal(answer.status, 503, answer.message)
    assert.ok(answer.ms < 2000, `answered after ${answer.ms} ms`)
    assert.equal(await health('ready'), 503)
  }
  assert.equal(await health('live'), 200)
  await giveBack()
  await heals()
  assert.equal(await health('ready'), 200)
  await assertWhole()
})

test('a suspended PostgreSQL delays no answer for long, and the server recovers with it', { skip }, async () => {
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
    assert.equal(await health('live'), 200)
    assert.equal(await health('ready'), 503)
    assert.deepEqual((await application.answer()).status, 200)
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT')
  }
  await heals()
  assert.equal(await health('ready'), 200)
  await assertWhole()
})

const failures = (): string => server.output.filter((line) => line.includes('a request failed')).join('\n')

test('sessions that end again and again write each key once', { skip }, async () => {
  const over = new AbortController()
  const made: string[] = []
  let next = 5
  const ending = (async () => {
    while (!over.signal.aborted) {
      await server.sql`select pg_terminate_backend(pid) from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`.catch(() => {})
      await until('a write succeeded meanwhile', () => made.length >= next || over.signal.aborted)
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
      // 409 would mean that a write was stored, its answer was lost, and the key did not return it.
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
