import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { atEnd } from '../../test/support/at-end.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { run, start } from '../lib/run.ts'
import { databaseUser } from './database-user.ts'
import { type EmbeddedDatabase, embeddedUrl, startEmbedded } from './embedded.ts'
import { openDatabase } from './pool.ts'
import { isRunning } from './postmaster.ts'
import { reachableDirectory, until } from './test-support.ts'

const signal = AbortSignal.timeout(110_000)
const open = (directory: string): Promise<EmbeddedDatabase> => startEmbedded({ directory, log: silentLogger, signal })
const stateOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')

const file = { after }
const shared = await reachableDirectory(file)
await mkdir(join(shared, 'cluster.new-1'), { recursive: true })
await writeFile(join(shared, 'cluster.new-1', 'PG_VERSION'), 'half')
const [first, second] = await Promise.all([open(shared), open(shared)])
atEnd(file, () => first.stop())

test('two starts on an empty directory with files of an interrupted start run one PostgreSQL', async () => {
  assert.equal(first.pid(), second.pid())
  assert.deepEqual((await readdir(shared)).sort(), [
    'cluster',
    'pg_hba.conf',
    'postgresql.conf',
    'postgresql.log',
    'socket',
  ])
})

test('other processes find it while it runs', async () => {
  assert.equal(await embeddedUrl(shared), first.url)
})

test('it keeps every text and everything that it acknowledged', async (t) => {
  const db = openDatabase({ url: first.url })
  t.after(() => db.end())
  const rows = await db<{ name: string; setting: string }[]>`
    select name, setting from pg_settings
    where name in ('server_encoding', 'fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums',
    'listen_addresses')`
  assert.deepEqual(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    server_encoding: 'UTF8',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    data_checksums: 'on',
    listen_addresses: '',
  })
  const [locale] =
    await db`select datlocprovider as provider, datlocale as name from pg_database where datname = current_database()`
  assert.deepEqual({ ...locale }, { provider: 'b', name: 'C.UTF-8' })
})

test('only its user can enter the directories of data and socket', async () => {
  for (const name of ['cluster', 'socket']) assert.equal((await stat(join(shared, name))).mode & 0o077, 0, name)
  const owner = await databaseUser(signal)
  assert.equal((await stat(join(shared, 'cluster'))).uid, owner?.uid ?? process.getuid?.())
})

test('its log contains no values of rows', async (t) => {
  const db = openDatabase({ url: first.url })
  t.after(() => db.end())
  await db`create table logged (secret text primary key, n int)`
  await db`insert into logged values ('canary-1', 1)`
  await assert.rejects(db`insert into logged values (${'canary-1'}, ${2})`)
  await assert.rejects(db`insert into logged values (${'canary-2'}, ${'x'}::text::int)`)
  assert.doesNotMatch(await readFile(join(shared, 'postgresql.log'), 'utf8'), /canary/)
})

test('a start adopts a running PostgreSQL, also while it is in use', async (t) => {
  const db = openDatabase({ url: first.url })
  t.after(() => db.end())
  const [before] = await db`select pg_backend_pid() as pid`
  assert.equal((await open(shared)).pid(), first.pid())
  const [since] = await db`select pg_backend_pid() as pid`
  assert.equal(since?.['pid'], before?.['pid'])
})

test('no acknowledged write is lost when PostgreSQL is killed, and writers continue within seconds', async (t) => {
  const db = openDatabase({ url: first.url })
  const watching = new AbortController()
  const watch = first.watch(watching.signal)
  t.after(async () => {
    watching.abort()
    await watch
    await db.end()
  })
  await db`create table written (writer int, n int, primary key (writer, n))`
  const acknowledged = new Set<string>()
  let writing = true
  const writers = [1, 2, 3, 4, 5, 6, 7, 8].map(async (writer) => {
    for (let n = 0; writing; n++) {
      await db`insert into written values (${writer}, ${n})`.then(
        () => acknowledged.add(`${writer}/${n}`),
        () => systemClock.sleep(1),
      )
    }
  })
  for (let round = 1; round <= 3; round++) {
    const target = acknowledged.size + 500
    await until('500 more rows', () => acknowledged.size > target)
    const killed = first.pid()
    process.kill(killed, 'SIGKILL')
    const at = systemClock.monotonic()
    await until('PostgreSQL is there again', () => first.pid() !== killed)
    const count = acknowledged.size
    await until('writers go on', () => acknowledged.size > count + 8)
    t.diagnostic(`round ${round}: writing again after ${Math.round(systemClock.monotonic() - at)} ms`)
  }
  writing = false
  await Promise.all(writers)
  const stored = new Set((await db`select writer || '/' || n as key from written`).map(({ key }) => key))
  assert.deepEqual(
    [...acknowledged].filter((key) => !stored.has(key)),
    [],
  )
  t.diagnostic(`${acknowledged.size} acknowledged, ${stored.size} stored`)
})

test('a PostgreSQL that is killed with all of its processes leaves no shared memory', async (t) => {
  const directory = await reachableDirectory(t)
  const segments = async (): Promise<string[]> => (await readdir(join(directory, 'cluster', 'pg_dynshmem'))).sort()
  const killed = (await open(directory)).pid()
  const before = await segments()
  assert.ok(before.length > 0)
  assert.doesNotMatch(await readFile(`/proc/${killed}/maps`, 'utf8'), /\/dev\/shm\/PostgreSQL/)
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', String(killed)], { timeoutMs: 5_000, stdin: '' })
  const children = stdout.toString().split('\n').map(Number).filter(Boolean)
  assert.ok(children.length > 0)
  for (const pid of [killed, ...children]) process.kill(pid, 'SIGKILL')
  // A start adopts a PostgreSQL that still runs, as this one does for a moment.
  await until('it has ended', async () => !isRunning(await stateOf(killed)))
  const next = await open(directory)
  atEnd(t, () => next.stop())
  const found = await segments()
  assert.deepEqual(
    found.filter((name) => before.includes(name)),
    [],
  )
  assert.ok(found.length <= before.length)
})

test('a killed PostgreSQL that remains as a zombie does not prevent the next start', async (t) => {
  const program = await readlink(`/proc/${first.pid()}/exe`)
  await first.stop()
  const user = await databaseUser(signal)
  const arguments_ = ['-D', join(shared, 'cluster'), '-c', `config_file=${join(shared, 'postgresql.conf')}`]
  const parent = start('/bin/sh', ['-c', '"$0" "$@" >/dev/null 2>&1 & exec sleep 100', program, ...arguments_], {
    cwd: '/',
    stdio: 'ignore',
    ...(user ? { user } : {}),
  })
  t.after(() => parent.kill('SIGKILL'))
  const pidFile = join(shared, 'cluster', 'postmaster.pid')
  await until('it is ready', async () => /\nready/.test(await readFile(pidFile, 'utf8').catch(() => '')))
  const pid = Number.parseInt(await readFile(pidFile, 'utf8'), 10)
  process.kill(pid, 'SIGKILL')
  await until('it is a zombie', async () => /\) Z /.test(await stateOf(pid)))
  const again = await open(shared)
  atEnd(t, () => again.stop())
  assert.notEqual(again.pid(), pid)
  assert.match(await stateOf(pid), /\) Z /)
  assert.ok(isRunning(await stateOf(again.pid())))
})

test('a database that disappears while it is in use is not replaced by an empty one', async (t) => {
  const directory = await reachableDirectory(t)
  const embedded = await open(directory)
  const watching = new AbortController()
  const errors: unknown[] = []
  const log = silentLogger.child({})
  log.error = (fields: unknown) => void errors.push(fields)
  const watched = await startEmbedded({ directory, log, signal })
  await embedded.stop()
  await rm(join(directory, 'cluster'), { recursive: true })
  const watch = watched.watch(watching.signal)
  await until('the loss is reported', () => errors.length > 0)
  watching.abort()
  await watch
  assert.match(String(Reflect.get(Object(errors[0]), 'err')), /cluster is gone/)
  await assert.rejects(stat(join(directory, 'cluster')), { code: 'ENOENT' })
})

test('a PostgreSQL that is killed before it is ready is restarted', async (t) => {
  const directory = await reachableDirectory(t)
  await (await open(directory)).stop()
  const pids: number[] = []
  const spawned = (pid: number): void => {
    pids.push(pid)
    if (pids.length === 3) return
    process.kill(pid, 'SIGKILL')
    // On a busy machine it could become ready before it ends.
    while (isRunning(readFileSync(`/proc/${pid}/stat`, 'utf8'))) {}
  }
  const embedded = await startEmbedded({ directory, log: silentLogger, signal, spawned })
  atEnd(t, () => embedded.stop())
  assert.equal(embedded.pid(), pids[2])
})

test('a PostgreSQL that does not start reports the reason', async (t) => {
  const directory = await reachableDirectory(t)
  await writeFile(join(directory, 'postgresql.local.conf'), 'shared_buffers = plenty\n')
  await assert.rejects(open(directory), {
    code: 'unavailable',
    message: /did not start on .*invalid value for parameter "shared_buffers"/s,
  })
})

test('a directory of another PostgreSQL version is rejected before anything changes', async (t) => {
  const directory = await reachableDirectory(t)
  await mkdir(join(directory, 'cluster'))
  await writeFile(join(directory, 'cluster', 'PG_VERSION'), '14\n')
  await assert.rejects(open(directory), {
    code: 'unavailable',
    message: /created by PostgreSQL 14, but this Quayside contains 18/,
  })
  assert.deepEqual(await readdir(join(directory, 'cluster')), ['PG_VERSION'])
})
