import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../lib/log.ts'
import { createLiveness } from './liveness.ts'

test('restarted replicas and failed post-start commands are logged', async () => {
  const warned: unknown[] = []
  const log = { ...silentLogger, warn: (about: unknown) => void warned.push(about) } as typeof silentLogger
  const engine = { checkLiveness: async () => ['app-1'], followRestarts: async () => ['exit code 1'] }
  await createLiveness({ log }, { name: 'local', engine }).reconcile(new AbortController().signal)
  assert.deepEqual(warned, [{ container: 'app-1' }, { reason: 'exit code 1' }])
})

test('the reconciler of another engine carries its name', () => {
  const engine = { checkLiveness: async () => [], followRestarts: async () => [] }
  assert.equal(createLiveness({ log: silentLogger }, { name: 'second', engine }).name, 'liveness (second)')
})
