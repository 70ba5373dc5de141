import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { lockDataDirectory, takeServerLock } from './data-directory.ts'

test('a directory of one server refuses another one while the first runs', async () => {
  const config = { dataDirectory: `/nowhere/${newId()}`, isDataShared: false, port: 3000 }
  const started = new AsyncDisposableStack()
  await lockDataDirectory(config, started)
  await assert.rejects(lockDataDirectory({ ...config, port: 3001 }, started), /is in use by another server/)
  await started.disposeAsync()
  await lockDataDirectory(config, new AsyncDisposableStack())
})

test('servers that share a directory start, and others see which of them runs', async () => {
  const first = { dataDirectory: `/nowhere/${newId()}`, isDataShared: true, port: 3000 }
  const second = { ...first, port: 3001 }
  const isRunning = async (config: typeof first): Promise<boolean> => {
    const lock = await takeServerLock(config)
    lock?.close()
    return lock === undefined
  }
  await using started = new AsyncDisposableStack()
  await lockDataDirectory(first, started)
  assert.deepEqual([await isRunning(first), await isRunning(second)], [true, false])
  await lockDataDirectory(second, started)
  assert.deepEqual([await isRunning(first), await isRunning(second)], [true, true])
})
