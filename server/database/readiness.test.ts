import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { createPulseOf, createReadiness } from './readiness.ts'
import { testDatabase } from './testing.ts'

test('readiness is given while the database answers, and refused when the pulse is lost', async (t) => {
  const { sql } = await testDatabase(t)
  await createReadiness(sql, undefined)()
  await createReadiness(sql, { whileHeard: (work) => work() })()
  const lost = createReadiness(sql, { whileHeard: () => Promise.reject(new Error('lost')) })
  await assert.rejects(lost, (error) => error instanceof AppError && error.code === 'unavailable')
})

test('a database without a URL has no pulse', () => {
  assert.equal(createPulseOf({ url: undefined, clock }), undefined)
})
