import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { mayRunPrograms, openScratch } from './scratch.mjs'

test('openScratch removes directories of killed runs, and keeps the directories of other runs', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'quayside-scratch-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  const ended = spawnSync(process.execPath, ['-e', '']).pid
  const places = [ended, process.ppid, 'of-somebody'].map((id) => join(parent, `quayside-tests-${id}-abc`))
  for (const path of places) mkdirSync(path)
  const scratch = openScratch(parent)
  if (!scratch) return t.skip('less than 4 GiB are free here')
  assert.deepEqual(
    [...places, scratch.path].map((path) => existsSync(path)),
    [false, true, true, true],
  )
  scratch.remove()
  assert.equal(existsSync(scratch.path), false)
})

const isRoot = process.getuid?.() === 0
test('openScratch keeps directories of other users', {
  skip: !isRoot && 'only root can make a directory of somebody else',
}, (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'quayside-scratch-'))
  t.after(() => rmSync(parent, { recursive: true, force: true }))
  const left = join(parent, `quayside-tests-${spawnSync(process.execPath, ['-e', '']).pid}-abc`)
  mkdirSync(left)
  chownSync(left, 65534, 65534)
  const scratch = openScratch(parent)
  if (!scratch) return t.skip('less than 4 GiB are free here')
  assert.ok(existsSync(left))
})

test('openScratch returns undefined when the parent directory is missing', () => {
  assert.equal(openScratch('/nowhere/at-all'), undefined)
})

test('mayRunPrograms returns false only when the last mount has noexec', () => {
  /** @param {string} options */
  const mount = (options) => `shm /dev/shm tmpfs ${options} 0 0\n`
  assert.equal(mayRunPrograms('/dev/shm', mount('rw,nosuid,nodev,noexec,relatime')), false)
  assert.equal(mayRunPrograms('/dev/shm', mount('rw,noexec') + mount('rw,nosuid')), true)
  assert.equal(mayRunPrograms('/dev/shm', 'overlay / overlay rw,noexec 0 0\n'), true)
})
