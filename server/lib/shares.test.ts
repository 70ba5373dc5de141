import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createShares } from './shares.ts'

const takeAll = (shares: ReturnType<typeof createShares>, path: readonly string[]): (() => void)[] => {
  const taken: (() => void)[] = []
  for (let give = shares.take(path); give; give = shares.take(path)) taken.push(give)
  return taken
}

test('an owner gets at most half, and each further owner still gets some', () => {
  const shares = createShares(32)
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].map((owner) => takeAll(shares, [owner]).length),
    [16, 8, 4, 2, 1],
  )
})

test('a caller leaves room for other callers of its organization, and the organization for others', () => {
  const shares = createShares(64)
  const callers = ['1', '2', '3', '4'].map((caller) => takeAll(shares, ['a', caller]).length)
  assert.deepEqual(callers, [21, 7, 2, 1])
  assert.ok(takeAll(shares, ['b', '1']).length >= 10)
})

test('an amount that is returned twice counts once and can be taken again', () => {
  const shares = createShares(8)
  const taken = takeAll(shares, ['a'])
  for (const give of [...taken, ...taken]) give()
  assert.equal(takeAll(shares, ['a']).length, 4)
})

test('an amount larger than what is left is refused as a whole', () => {
  const shares = createShares(100)
  assert.ok(shares.take(['a'], 50))
  assert.equal(shares.take(['a'], 1), undefined)
  assert.equal(shares.take(['b'], 51), undefined)
  assert.ok(shares.take(['b'], 25))
})
