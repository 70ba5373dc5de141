import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { until } from './testing.ts'
import { claim, insert, renew, shareOut } from './workflow-store.ts'

/** The driver's list of rows is not a plain array. */
const keysOf = (rows: readonly { key: string }[]): string[] => Array.from(rows, ({ key }) => key).sort()
const taking = { ...shareOut(10), owner: 'a', kinds: ['w'], limit: 10, leaseSeconds: 15, holding: [] as string[] }

test('claims the first waiting workflow of each idle key, oldest first', async (t) => {
  const { sql } = await testDatabase(t)
  const ids: string[] = []
  for (const key of ['z', 'a', 'z', 'b', 'a']) {
    const id = newId()
    ids.push(id)
    await insert(sql, { id, kind: 'w', key, input: null, countsFor: 'platform' })
  }
  const first = await claim(sql, { ...taking, limit: 2 })
  assert.deepEqual(Array.from(first, ({ id }) => id).sort(), [ids[0], ids[1]])
  assert.deepEqual(
    Array.from(first, ({ fence, attempts, input }) => [fence, attempts, input]),
    [
      ['1', 1, null],
      ['1', 1, null],
    ],
  )
  const second = await claim(sql, { ...taking, owner: 'b' })
  assert.deepEqual(
    Array.from(second, ({ id }) => id),
    [ids[3]],
  )
  assert.equal((await claim(sql, { ...taking, owner: 'c' })).length, 0)
})

test('claims without waiting for another uncommitted claim', async (t) => {
  const { sql } = await testDatabase(t)
  const keys = ['a', 'b', 'c', 'd']
  for (const key of keys) await insert(sql, { id: newId(), kind: 'w', key, input: {}, countsFor: 'platform' })
  await sql.begin(async (tx) => {
    const first = await claim(tx, { ...taking, limit: 2 })
    const second = await claim(sql, { ...taking, owner: 'b', limit: 2 })
    assert.deepEqual(keysOf(first), ['a', 'b'])
    assert.deepEqual(keysOf(second), ['c', 'd'])
  })
})

test('claims an expired workflow again with a new fence, but no held one', async (t) => {
  const { sql } = await testDatabase(t)
  await insert(sql, { id: newId(), kind: 'w', key: 'k', input: {}, countsFor: 'platform' })
  const [before] = await claim(sql, { ...taking, leaseSeconds: 0.05 })
  assert(before)
  assert.equal((await claim(sql, { ...taking, holding: [before.id] })).length, 0)
  const [after] = await until('end of the lease', async () => {
    const claimed = await claim(sql, { ...taking, owner: 'b' })
    return claimed.length > 0 && claimed
  })
  assert.deepEqual([after?.id, after?.fence, after?.attempts], [before.id, '2', 2])
  assert.equal((await renew(sql, [before], 15)).length, 0)
  assert.equal(after && (await renew(sql, [after], 15)).length, 1)
})
