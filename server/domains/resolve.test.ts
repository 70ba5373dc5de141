import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resolveNames } from './resolve.ts'

test('what is not known in time is a failure, not an absence', async () => {
  const signal = AbortSignal.abort(new Error('late'))
  const [found] = await resolveNames(['example.invalid'], signal)
  assert.deepEqual(found, { addresses: [], failure: 'DNS did not answer in time.' })
})
