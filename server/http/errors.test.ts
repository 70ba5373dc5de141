import assert from 'node:assert/strict'
import test from 'node:test'
import fastify from 'fastify'
import { AppError, budgetSpent, type ErrorCode, errorCodes } from '../lib/error.ts'
import { silentLogger } from '../lib/log.ts'
import { errorHandler } from './errors.ts'

/** Returns the answer to a request whose handler throws. */
async function answerTo(error: Error) {
  await using app = fastify()
  app.setErrorHandler(errorHandler(silentLogger))
  app.get('/', async () => {
    throw error
  })
  return await app.inject('/')
}

test('an error that passes by itself says after how many seconds', async () => {
  const codes = Object.keys(errorCodes) as ErrorCode[] // Its own keys.
  for (const code of codes) {
    const { statusCode, headers } = await answerTo(new AppError(code, 'It failed.'))
    assert.equal(headers['retry-after'], [429, 503].includes(statusCode) ? '1' : undefined, code)
  }
  const slow = await answerTo(new AppError('tooManyRequests', 'It failed.', { retryAfterSeconds: 60 }))
  assert.equal(slow.headers['retry-after'], '60')
  assert.equal((await answerTo(budgetSpent(0))).headers['retry-after'], '1')
  assert.equal((await answerTo(budgetSpent(7))).json().message, 'Too many requests; try again in 7 s.')
})
