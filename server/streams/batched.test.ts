import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredLine } from '../logs/index.ts'
import { batched } from './batched.ts'

const line = (seq: number): StoredLine => ({ seq, at: '2026-01-01T00:00:00Z' })

test('available lines come together up to a limit, and a single line is not held back', async () => {
  const more = Promise.withResolvers<void>()
  async function* lines() {
    for (let seq = 1; seq <= 5; seq++) yield line(seq)
    await more.promise
    yield line(6)
  }
  const source = batched(lines(), 3)
  const next = async () => (await source.next()).value?.map(({ seq }: StoredLine) => seq)
  assert.deepEqual(await next(), [1, 2, 3])
  assert.deepEqual(await next(), [4, 5])
  const last = next()
  more.resolve()
  assert.deepEqual(await last, [6])
  assert.equal(await next(), undefined)
})
