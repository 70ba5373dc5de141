import assert from 'node:assert/strict'
import { readFile, rename, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { lastRequest } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// PostgreSQL answers late, very late, or not at all. Requests have a time limit, deployments
// continue, and no work piles up.

let server: ServerProcess
let application: TestApplication
let way: Awaited<ReturnType<typeof standBetween>>

before(async () => {
  server = await startServer()
  application = await makeWeb(server)
  await application.run(web('first'))
  way = await standBetween(join(server.dataDirectory, 'postgresql', 'socket', '.s.PGSQL.5432'))
  // New connections use the slow way.
  await server.sql`select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`
  await until('it answers', async () => (await server.api('GET', '/organization')).status === 200)
})
after(async () => {
  await way?.leave()
  await application?.git.remove()
  await server?.close()
})

/**
 * Replaces PostgreSQL's socket with a proxy. It delays PostgreSQL's answers by the configured time,
 * or forever.
 */
async function standBetween(path: string) {
  const real = `${path}.real`
  const state = { delayMs: 0, isSilent: false }
  await rename(path, real)
  const relay = createServer((near) => {
    const far = connect({ path: real })
    let said: Promise<unknown> = Promise.resolve()
    far.on('data', (chunk) => {
      const due = now() + state.delayMs
      said = said.then(async () => {
        while (now() < due || state.isSilent) await clock.sleep(Math.min(50, Math.max(1, due - now())))
        if (!near.destroyed) near.write(chunk)
      })
    })
    near.on('data', (chunk) => void far.write(chunk))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {}).on('close', () => void said.then(() => other.destroy()))
    }
  }).listen(path)
  await new Promise((resolve) => relay.once('listening', resolve))
  const leave = async (): Promise<void> => {
    Object.assign(state, { delayMs: 0, isSilent: false })
    relay.close()
    await rm(path, { force: true })
    await rename(real, path)
  }
  const set = (change: Partial<typeof state>): void => void Object.assign(state, change)
  return { set, leave }
}

const path = (): string => `/application/${application.id}/environmentVariable`
let written = 0
async function write() {
  const began = now()
  const { status, body } = await server.api('POST', path(), { key: `KEY_${written++}`, value: 'text' })
  return { status, message: String(Object(body).message), ms: now() - began }
}
const memory = async (): Promise<number> =>
  Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${server.pid()}/status`, 'utf8'))?.[1]) / 1024

test('a delay of 200 ms slows requests and breaks nothing', async (t) => {
  way.set({ delayMs: 200 })
  t.after(() => way.set({ delayMs: 0 }))
  const read = () => server.api('GET', path())
  const [answers, seen] = await Promise.all([
    Promise.all(Array.from({ length: 6 }, write)),
    Promise.all(Array.from({ length: 40 }, read)),
  ])
  for (const { status, message, ms } of answers) {
    assert.equal(status, 201, message)
    // Without this delay the test would prove nothing.
    assert.ok(ms >= 200, `answered after ${ms} ms`)
  }
  for (const { status } of seen) assert.equal(status, 200)
  await application.run(web('over a slow way'))
})

/** Builds while answers are delayed by this time. Returns how often the deployment was claimed. */
async function takenUp(version: string, delayMs: number): Promise<string | undefined> {
  await application.ship(web(version, { buildMs: 25_000 }))
  await application.reaches(['BUILDING'])
  const request = await lastRequest(server, application)
  way.set({ delayMs })
  const answers = await Promise.all(Array.from({ length: 20 }, write))
  for (const { status, message, ms } of answers) {
    assert.ok(status === 201 || status === 503, `${status} ${message}`)
    assert.ok(ms < 30_000, `answered after ${ms} ms`)
    if (status === 201) assert.ok(ms >= delayMs, `answered after ${ms} ms`)
  }
  const began = now()
  await until('a lease would have expired', () => now() - began > 16_000)
  way.set({ delayMs: 0 })
  assert.deepEqual((await application.settles()).state, 'RUNNING')
  assert.deepEqual(await application.answer(), { status: 200, body: version })
  const [workflow] = await server.sql<{ fence: string }[]>`select fence::text from workflow where id = ${request}`
  return workflow?.fence
}

test('a delay of two seconds expires no lease, so one owner completes the build', async (t) => {
  t.after(() => way.set({ delayMs: 0 }))
  const from = server.output.length
  const times = await takenUp('under one lease', 2000)
  const said = server.output.slice(from).filter((line) => /lease|workflow|not be reached|did not answer/.test(line))
  assert.equal(times, '1', said.slice(0, 40).join('\n'))
})

test('a delay of nearly five seconds may expire a lease, and the build continues afterwards', async (t) => {
  t.after(() => way.set({ delayMs: 0 }))
  const times = Number(await takenUp('in the end', 4500))
  t.diagnostic(`taken up ${times} times`)
  // A lease lasts 15 s. The build ends within two leases after the delay is removed.
  assert.ok(times >= 1 && times <= 5, `taken up ${times} times`)
})

test('a silent connection gives 503 to each request within seconds, and the server recovers', async (t) => {
  const before = await memory()
  way.set({ isSilent: true })
  t.after(() => way.set({ isSilent: false }))
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 100 }, write))
    for (const { status, message, ms } of answers) {
      assert.equal(status, 503, message)
      assert.ok(ms < 20_000, `answered after ${ms} ms`)
    }
  }
  assert.deepEqual(await application.answer(), { status: 200, body: 'in the end' })
  const grown = (await memory()) - before
  assert.ok(grown < 100, `${grown.toFixed(0)} MiB more`)
  way.set({ isSilent: false })
  await until('writes are acknowledged again', async () => (await write()).status === 201, { limitMs: 60_000 })
})
