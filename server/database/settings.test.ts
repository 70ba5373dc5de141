import assert from 'node:assert/strict'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { openServerLog, rotateServerLog, tailOfServerLog } from './server-log.ts'
import { settingsText } from './settings.ts'
import { temporaryDirectory } from './test-support.ts'

const place = { home: "/it's here", cluster: "/it's here/cluster", sockets: "/it's here/socket" }
const sizes = { durable: true, maxConnections: 7, sharedBuffersMb: 16 }

test('settings are quoted, and durable by default', () => {
  const text = settingsText(place, sizes)
  assert.match(text, /^unix_socket_directories = '\/it''s here\/socket'$/m)
  assert.match(text, /^listen_addresses = ''$/m)
  assert.match(text, /^max_connections = 7$/m)
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    assert.match(text, new RegExp(`^${name} = on$`, 'm'))
    assert.match(settingsText(place, { ...sizes, durable: false }), new RegExp(`^${name} = off$`, 'm'))
  }
})

test('a log that is too large is moved while its writer continues', async (t) => {
  const path = join(await temporaryDirectory(t), 'log')
  const writer = await openServerLog(path)
  t.after(() => writer.close())
  await writer.write('old line\n')
  await rotateServerLog(path, 100)
  assert.equal(await tailOfServerLog(path), 'old line')
  await rotateServerLog(path, 5)
  await writer.write('new line\n')
  assert.equal(await readFile(path, 'utf8'), 'new line\n')
  assert.equal(await readFile(`${path}.1`, 'utf8'), 'old line\n')
})

test('the log is made private', async (t) => {
  const path = join(await temporaryDirectory(t), 'log')
  const handle = await openServerLog(path)
  await handle.close()
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('the tail of a long log is its last lines', async (t) => {
  const path = join(await temporaryDirectory(t), 'log')
  await writeFile(path, Array.from({ length: 1000 }, (_, n) => `line ${n}\n`).join(''))
  const tail = (await tailOfServerLog(path)).split('\n')
  assert.equal(tail.at(-1), 'line 999')
  assert.ok(tail.length <= 8)
  assert.equal(await tailOfServerLog(`${path}.missing`), '')
})
