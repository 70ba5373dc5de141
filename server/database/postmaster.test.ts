import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { start } from '../lib/run.ts'
import { clearRemains, findPostmaster, isRunning, parsePostmasterFile, serves } from './postmaster.ts'
import { temporaryDirectory, until } from './test-support.ts'

const file = ['4711', '/data/cluster', '1763721438', '5432', '/data/socket', '', '  123   45', 'ready   ', ''].join(
  '\n',
)

test('reads postmaster.pid', () => {
  assert.deepEqual(parsePostmasterFile(file), { pid: 4711, sockets: '/data/socket', ready: true })
  assert.equal(parsePostmasterFile(file.replace('ready   ', 'starting'))?.ready, false)
})

test('a partly written postmaster.pid names no process', () => {
  assert.equal(parsePostmasterFile(''), undefined)
  assert.equal(parsePostmasterFile('garbage\n'), undefined)
  assert.equal(parsePostmasterFile('1\n/data'), undefined)
  assert.deepEqual(parsePostmasterFile('47'), { pid: 47, sockets: '', ready: false })
})

test('a zombie does not count as running, whatever its name', () => {
  assert.equal(isRunning('4711 (postgres) S 1 4711'), true)
  assert.equal(isRunning('4711 (postgres) Z 1 4711'), false)
  assert.equal(isRunning('4711 (a) S (b) Z 1 4711'), false)
  assert.equal(isRunning('4711 (post) Z) R 1 4711'), true)
  assert.equal(isRunning(''), false)
})

test('a living process that does not work in the data directory does not count', async (t) => {
  const directory = await temporaryDirectory(t)
  assert.equal(await serves(process.pid, directory), false)
  assert.equal(await serves(process.pid, process.cwd()), true)
  assert.equal(await serves(2 ** 22 + 1, process.cwd()), false)
})

test('lock files with the process id of another program are removed', async (t) => {
  const home = await temporaryDirectory(t)
  const place = { home, cluster: join(home, 'cluster'), sockets: join(home, 'socket') }
  await mkdir(place.cluster)
  await mkdir(place.sockets)
  await writeFile(join(place.cluster, 'postmaster.pid'), file.replace('4711', String(process.pid)))
  await writeFile(join(place.cluster, 'PG_VERSION'), '18')
  await writeFile(join(place.sockets, '.s.PGSQL.5432.lock'), String(process.pid))
  assert.equal(await findPostmaster(place.cluster), undefined)
  await clearRemains(place, systemClock)
  assert.deepEqual(await readdir(place.cluster), ['PG_VERSION'])
  assert.deepEqual(await readdir(place.sockets), [])
})

test('processes of a postmaster that died have ended before the next one starts', async (t) => {
  const home = await temporaryDirectory(t)
  const place = { home, cluster: join(home, 'cluster'), sockets: join(home, 'socket') }
  await mkdir(place.cluster)
  const program = join(home, 'postgres')
  await copyFile('/bin/bash', program)
  // The kernel needs a while to release much memory, so the process ends some time after the kill.
  const fill = 'printf -v memory "%*s" 400000000 ""; touch filled; kill -STOP $$'
  const child = start(program, ['-c', fill], { cwd: place.cluster, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await until('its memory is filled', async () => (await readdir(place.cluster)).includes('filled'))
  await clearRemains(place, systemClock)
  assert.equal(await serves(child.pid ?? 0, place.cluster), false)
})
