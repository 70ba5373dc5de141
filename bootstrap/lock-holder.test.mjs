import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { lockDataDirectory, lockName } from './data-directory.mjs'
import {
  commandOf,
  findHolder,
  mustLock,
  parseInodes,
  parseParent,
  parseParts,
  parseUser,
  refuseSharers,
} from './lock-holder.mjs'
import { stopInstallation } from './stop-installation.mjs'

/** Returns why no process of another user can be started, or false if one can. */
function noOtherUser() {
  if (process.getuid?.() !== 0) return 'only root can start processes of another user'
  const { error } = spawnSync(process.execPath, ['--version'], { uid: 65534 })
  return error ? 'other users may not run Node.js in this checkout' : false
}

test('findHolder returns only the process that holds the lock', async (t) => {
  const directory = `/nowhere/${process.pid}`
  assert.equal(findHolder(directory), undefined)
  const program = `require('net').createServer().listen({ path: '\\0${lockName(directory)}' }, () => console.log('held'))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  assert.deepEqual(findHolder(directory), { pid: child.pid, command: undefined })
  assert.equal(findHolder(`${directory}0`), undefined)
})

test('findHolder returns the parent when a child has its socket, as between fork and exec', async (t) => {
  const directory = `/nowhere/child-of-${process.pid}`
  const program = `
    const server = require('net').createServer().listen({ path: '\\0${lockName(directory)}' }, () => {
      const stdio = ['ignore', 'ignore', 'ignore', server._handle.fd]
      const child = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio })
      process.on('exit', () => child.kill())
      process.on('SIGTERM', () => process.exit())
      child.once('spawn', () => console.log(child.pid))
    })`
  const parent = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => parent.kill())
  const [pid] = await once(parent.stdout, 'data')
  assert.ok(readlinkSync(`/proc/${Number(pid)}/fd/3`).startsWith('socket:'))
  assert.deepEqual(findHolder(directory), { pid: parent.pid, command: undefined })
})

test('parseInodes finds a socket only by its whole name', () => {
  const text =
    'Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 10000 1 01 111 @quayside-ab\n0: 2 0 10000 1 01 ' +
    '222 @quayside-a\n'
  assert.deepEqual(parseInodes(text, '@quayside-a'), ['222'])
  assert.deepEqual(parseInodes(text, '@quayside-b'), [])
})

test('parseParts finds the numbers behind a name', () => {
  const rows = ['1 @quayside-a.3000', '2 @quayside-a', '3 @quayside-ab.1', '4 @quayside-a.', '5 @quayside-a.3000 @x']
  assert.deepEqual(parseParts(rows.join('\n'), '@quayside-a'), ['3000'])
  assert.deepEqual(parseParts(`${rows[0]}\n${rows[0]}\n6 @quayside-a.3001`, '@quayside-a'), ['3000', '3001'])
})

test('commandOf recognizes a server and a stop among other commands', () => {
  assert.equal(commandOf('node\0--flag\0/opt/quayside/server/main.ts\0'), 'server')
  assert.equal(commandOf('node\0bootstrap/stop.mjs\0'), 'stop')
  assert.equal(commandOf('node\0/opt/quayside/bootstrap/upgrade.mjs\0'), undefined)
})

test('parseUser returns the real user of a process, and parseParent its parent', () => {
  assert.equal(parseUser('Name:\tx\nUid:\t1000\t0\t0\t0\nGid:\t0\t0\t0\t0\n'), 1000)
  assert.ok(Number.isNaN(parseUser('')))
  assert.equal(parseParent('Name:\tx\nPid:\t12\nPPid:\t7\n'), 7)
})

/**
 * Starts a process that listens at a socket of this path, which may be relative to `cwd`. Needs
 * root for a `uid` of another user.
 * @param {import('node:test').TestContext} t
 * @param {string} path
 * @param {{ cwd?: string, uid?: number }} [options]
 */
async function listenAt(t, path, options) {
  const program =
    `require('net').createServer().listen({ path: process.argv[1].replace(/^@/, '\\0') }, () => ` +
    `console.log('held'))`
  const child = spawn(process.execPath, ['-e', program, path, '/server/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  return child.pid
}

/**
 * A name that ends a row of /proc/net/unix and begins another one.
 * @param {string} directory
 */
const forged = (directory) => `a\n0: 2 0 10000 1 01 INODE @${lockName(directory)}`

test('findHolder ignores processes of other users when a socket path imitates a row of the list', {
  skip: noOtherUser(),
}, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'quayside-lock-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  chmodSync(home, 0o777)
  const directory = join(home, 'data')
  const bait = await listenAt(t, `bait @${lockName(directory)}`, { cwd: home, uid: 65534 })
  assert.ok(bait)
  assert.deepEqual(findHolder(directory), { pid: undefined, command: undefined })
  const pid = await listenAt(t, `@${lockName(directory)}`)
  assert.deepEqual(findHolder(directory), { pid, command: 'server' })
  assert.equal(await lockDataDirectory(directory), undefined)
})

test('findHolder throws when a forged row names the socket of another server', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'quayside-lock-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const [directory, other] = [join(home, 'data'), join(home, 'other')]
  const victim = await listenAt(t, `@${lockName(other)}`)
  const [inode] = parseInodes(readFileSync('/proc/net/unix', 'utf8'), `@${lockName(other)}`)
  assert.ok(inode)
  await listenAt(t, forged(directory).replace('INODE', inode), { cwd: home })
  const pid = await listenAt(t, `@${lockName(directory)}`)
  assert.throws(
    () => findHolder(directory),
    (error) => [pid, victim].every((one) => String(error).includes(`${one}`)),
  )
})

test('servers that share a directory keep commands away that need it for themselves', async (t) => {
  const directory = `/nowhere/shared-by-${process.pid}`
  const first = await listenAt(t, `@${lockName(directory)}.3000`)
  const second = await listenAt(t, `@${lockName(directory)}.3001`)
  const message = `share ${directory}: process ${first} (port 3000), process ${second} (port 3001). End`
  /** @param {unknown} error */
  const isListed = (error) => String(error).includes(message)
  assert.throws(() => refuseSharers(directory), isListed)
  await assert.rejects(mustLock(directory), isListed)
  await assert.rejects(stopInstallation(directory), isListed)
  ;(await mustLock(`${directory}0`)).close()
})
