import assert from 'node:assert/strict'
import { test } from 'node:test'
import { surplus } from './prune.ts'

type Judged = Parameters<typeof surplus>[0][number]

const made = (id: string, change: Partial<Judged> = {}): Judged => ({
  id,
  state: 'SUCCEEDED',
  proof_state: 'NONE',
  restore_state: 'NONE',
  ...change,
})
const failed = (id: string): Judged => made(id, { state: 'FAILED' })

test('the newest backups stay, as many as the policy says', () => {
  const rows = [made('d'), made('c'), made('b'), made('a')]
  assert.deepEqual(surplus(rows, 2), ['b', 'a'])
  assert.deepEqual(surplus(rows, 4), [])
  assert.deepEqual(surplus([], 1), [])
})

test('the newest one that is proven stays however old it is; older proven ones go', () => {
  const rows = [
    made('e', { proof_state: 'FAILED' }),
    made('d'),
    made('c', { proof_state: 'PROVEN' }),
    made('b'),
    made('a', { proof_state: 'PROVEN' }),
  ]
  assert.deepEqual(surplus(rows, 1), ['d', 'b', 'a'])
})

test('what was restored, and what is being proven, stays', () => {
  const restored = ['RUNNING', 'SUCCEEDED', 'FAILED'] as const
  const rows = [
    made('newest'),
    ...restored.map((restore_state) => made(restore_state, { restore_state })),
    made('proving', { proof_state: 'RUNNING' }),
    made('old'),
  ]
  assert.deepEqual(surplus(rows, 1), ['old'])
})

test('backups that failed take no place of those that were made, and go when those around them go', () => {
  assert.deepEqual(surplus([failed('f3'), made('b'), failed('f2'), made('a'), failed('f1')], 2), ['f1'])
  assert.deepEqual(surplus([failed('f3'), failed('f2'), failed('f1')], 2), ['f1'])
})
