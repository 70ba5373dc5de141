import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { messageOf } from '../../server/lib/error.ts'
import { run } from '../../server/lib/run.ts'
import { makeEnvironment } from '../support/application.ts'
import { makeDatabase, type TestDatabase } from '../support/database.ts'
import { copyImage, provideDatabaseImages } from '../support/database-images.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { startPrivateServer } from '../support/private-server.ts'
import { connects } from '../support/reach.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// A database loses no acknowledged write when the engine, the server or its own program is killed.
// A version that cannot read its data never opens it. The tests build on each other.

const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let database: TestDatabase
let written = 0

before(
  async () => {
    if (skip) return
    await provideDatabaseImages('postgresql')
    ;({ engine, server, close } = await startPrivateServer((socketPath) => copyImage('postgres:15', socketPath)))
    database = await makeDatabase(server, await makeEnvironment(server, 'faults'), 'postgresql', {
      accessibility: 'PUBLIC',
    })
    await database.acts('deploy')
    await inSql(database, 'create table kept (n int)')
    await write()
  },
  { timeout: 600_000 },
)
after(() => close?.())

async function inSql(of: TestDatabase, sql: string): Promise<string> {
  const { exitCode, output } = await of.exec('psql', '--username=root', '--dbname=postgres', '-qAtc', sql)
  assert.equal(exitCode, 0, output)
  return output.trim()
}
const write = async (): Promise<void> => void (await inSql(database, `insert into kept values (${++written})`))
const assertKept = async (): Promise<void> =>
  assert.equal(await inSql(database, 'select count(*) from kept'), String(written))
/** Waits until the database answers its owner again. */
const comesBack = (): Promise<true> =>
  until(
    'the database answers',
    async () =>
      inSql(database, 'select 1').then(
        () => true as const,
        () => undefined,
      ),
    { limitMs: 60_000 },
  )

test('a database keeps running while the engine is killed, and its port is published again', { skip }, async () => {
  const { port } = await database.record()
  await write()
  await engine.kill9()
  await engine.start()
  await comesBack()
  await assertKept()
  await until('the port answers', () => connects(port))
  assert.equal((await database.record()).port, port)
})

test('a restart during which the engine is killed succeeds and keeps the data', { skip }, async () => {
  await write()
  await server.must('POST', `${database.path}/restart-service`)
  await until('the previous container is ending or gone', async () => {
    const [status] = await server.sql<{ state: string }[]>`select state from service where id = ${database.id}`
    return status?.state === 'RESTARTING'
  })
  await engine.kill9()
  await engine.start()
  assert.equal((await database.settles()).state, 'RESTARTED')
  await assertKept()
})

test('a database killed with the server recovers all acknowledged writes', { skip }, async () => {
  await write()
  const [container] = await server.engine.containersWith(`quayside.service=${database.id}`)
  await server.kill9()
  await server.engine.ask('POST', `/containers/${container?.Id}/kill?signal=KILL`)
  await server.restart()
  await comesBack()
  await assertKept()
  assert.match(await database.printed(), /automatic recovery in progress/)
})

test('a version that cannot open the data is never started on it', { skip }, async () => {
  await write()
  const { status, message } = await database.edit({ version: '16' })
  assert.equal(status, 409, message)
  // A copy or an older version of the settings could have brought this data.
  await server.sql`update service set data_version = '14' where id = ${database.id}`
  await server.must('POST', `${database.path}/restart-service`)
  const { reason } = await database.settles()
  assert.match(reason ?? '', /has data of PostgreSQL 14, which PostgreSQL 15 does not open.*dump and restore/)
  await assertKept()
  await server.sql`update service set data_version = '15' where id = ${database.id}`
  await database.acts('deploy')
  await assertKept()
})

test('a full disk fails writes, and the database recovers once the disk is larger', { skip }, async (t) => {
  const small = await makeDatabase(server, await makeEnvironment(server, 'small'), 'postgresql')
  const disk = await mountDisk(100)
  t.after(() => run('umount', ['--lazy', disk.path], { timeoutMs: 10_000 }))
  await makeVolume(`quay-vol-${small.id}`, disk.path)
  await small.acts('deploy')
  await inSql(small, 'create table kept (n int, filler text)')
  let acknowledged = 0
  /** The reason why a write failed. */
  const fill = async (): Promise<string | undefined> => {
    const values = `select ${acknowledged}, repeat(md5(g::text), 30) from generate_series(1, 2000) g`
    try {
      await inSql(small, `insert into kept ${values}`)
      acknowledged++
      return undefined
    } catch (error) {
      return messageOf(error)
    }
  }
  let refusal = ''
  const isFull = async (): Promise<boolean> => {
    refusal = (await fill()) ?? ''
    return /No space left on device/.test(`${refusal}\n${await small.printed()}`)
  }
  await until('the disk is full', isFull, { limitMs: 90_000, everyMs: 1, seen: () => refusal })
  assert.ok(acknowledged > 0)
  await disk.grow(300)
  const numbers = () => inSql(small, 'select count(distinct n) from kept').catch(() => undefined)
  const kept = Number(await until('the database answers again', numbers, { limitMs: 60_000 }))
  // The last write may be stored although its answer was lost.
  assert.ok(kept === acknowledged || kept === acknowledged + 1, `${kept} of ${acknowledged}`)
  assert.equal(await fill(), undefined)
})

/**
 * Mounts a file system of this many MiB in the directory of the engine. It is removed with the
 * engine.
 */
async function mountDisk(mebibytes: number) {
  const path = join(dirname(engine.socketPath), 'small')
  await mkdir(path)
  const mount = async (...options: readonly string[]): Promise<void> => {
    const { exitCode, stderr } = await run('mount', [...options, path], { timeoutMs: 10_000 })
    assert.equal(exitCode, 0, stderr)
  }
  await mount('-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs')
  return { path, grow: (to: number) => mount('-o', `remount,size=${to}m`) }
}

/** Creates a volume on this directory before the platform requests it. */
async function makeVolume(name: string, path: string): Promise<void> {
  const body = JSON.stringify({ Name: name, DriverOpts: { type: 'none', o: 'bind', device: path } })
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  const headers = { 'content-type': 'application/json' }
  const asked = request({ socketPath: engine.socketPath, method: 'POST', path: '/volumes/create', headers }, (answer) =>
    answer.resume().on('end', () => resolve(answer.statusCode)),
  )
  asked.once('error', reject).end(body)
  assert.equal(await promise, 201)
}
