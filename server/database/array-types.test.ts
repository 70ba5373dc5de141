import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseArray, serializeArray } from './array-types.ts'
import { testDatabase } from './testing.ts'

const texts = fc.array(
  fc.option(fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0') && text.isWellFormed())),
)

test('a written list is read back unchanged', () => {
  fc.assert(fc.property(texts, (list) => assert.deepEqual(parseArray(serializeArray(list), String), list)))
})

test('PostgreSQL reads and writes the same lists', async (t) => {
  const { sql } = await testDatabase(t)
  await fc.assert(
    fc.asyncProperty(texts, async (list) => {
      const [row] =
        await sql`select ${list}::text[] as list, ${list.length}::int = coalesce(array_length(${list}::text[], 1),
          0) as same`
      assert.deepEqual({ ...row }, { list, same: true })
    }),
    { numRuns: 50 },
  )
  const id = '00000000-0000-4000-8000-000000000000'
  const [row] =
    await sql`select ${[id]}::uuid[] as ids, ${[1, -2]}::int[] as ints, ${[3]}::bigint[] as bigints, array[]::text[]
      as none`
  assert.deepEqual({ ...row }, { ids: [id], ints: [1, -2], bigints: [3], none: [] })
})
