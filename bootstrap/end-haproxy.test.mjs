import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { endHaproxy } from './end-haproxy.mjs'
import { isAlive, waitUntil } from './end-process.mjs'
import { stopInstallation } from './stop-installation.mjs'

/** As in test/support/haproxy.ts, whose language older releases of Node do not read. */
const haproxy = process.env.QUAYSIDE_TEST_HAPROXY || 'haproxy'
const { status } = spawnSync(haproxy, ['-v'])
const skip = status === 0 ? false : 'this machine has no HAProxy (apt-get install haproxy)'

/** @param {string} path */
const accepts = (path) =>
  new Promise((resolve) => {
    const socket = connect({ path }, () => resolve(true)).on('error', () => resolve(false))
    socket.on('close', () => {}).end()
  })

test('npm stop ends an HAProxy whose router is gone', { skip }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'quayside-stop-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const front = join(directory, 'router', 'front')
  mkdirSync(front, { recursive: true })
  const admin = join(front, 'admin.sock')
  const configuration = join(front, 'haproxy.cfg')
  const lines = ['global', `  stats socket ${admin} mode 600 level admin`, 'defaults', '  timeout client 1s']
  writeFileSync(
    configuration,
    `${[...lines, 'frontend all', '  mode http', `  bind unix@${front}/all.sock`].join('\n')}\n`,
  )
  const child = spawn(haproxy, ['-db', '-f', configuration], { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  assert.ok(await waitUntil(async () => (await accepts(admin)) === true, 10_000), 'HAProxy listens')
  const { lock, ended } = await stopInstallation(directory)
  lock.close()
  assert.deepEqual(ended, ['HAProxy'])
  assert.ok(!isAlive(Number(child.pid)))
})

test('a directory without HAProxy has none to end', async () => {
  assert.equal(await endHaproxy(`/nowhere/${process.pid}`), false)
})
