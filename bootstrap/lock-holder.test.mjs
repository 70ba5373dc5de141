import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { lockName } from './data-directory.mjs'
import { commandOf, findHolder, parseInode } from './lock-holder.mjs'

test('the process that holds a lock is found, and nobody else', async (t) => {
  const directory = `/nowhere/${process.pid}`
  assert.equal(findHolder(directory), undefined)
  const program = `require('net').createServer().listen({ path: '\\0${lockName(directory)}' }, () => console.log('held'))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  await once(child.stdout, 'data')
  assert.deepEqual(findHolder(directory), { pid: child.pid, command: undefined })
  assert.equal(findHolder(`${directory}0`), undefined)
})

test('a socket is found by its whole name', () => {
  const text =
    'Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 10000 1 01 111 @quayside-ab\n0: 2 0 10000 1 01 222 @quayside-a\n'
  assert.equal(parseInode(text, '@quayside-a'), '222')
  assert.equal(parseInode(text, '@quayside-b'), undefined)
})

test('a server and a stop are told apart from other commands', () => {
  assert.equal(commandOf('node\0--flag\0/opt/quayside/server/main.ts\0'), 'server')
  assert.equal(commandOf('node\0bootstrap/stop.mjs\0'), 'stop')
  assert.equal(commandOf('node\0/opt/quayside/bootstrap/upgrade.mjs\0'), undefined)
})
