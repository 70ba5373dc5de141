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

test('pruning keeps as many of the newest backups as the policy says', () => {
  const rows = [made('d'), made('c'), made('b'), made('a')]
  assert.deepEqual(surplus(rows, 2), ['b', 'a'])
  assert.deepEqual(surplus(rows, 4), [])
  assert.deepEqual(surplus([], 1), [])
})

test('pruning keeps the newest proven backup at any age and removes older proven ones', () => {
  const rows = [
    made('e', { proof_state: 'FAILED' }),
    made('d'),
    made('c', { proof_state: 'PROVEN' }),
    made('b'),
    made('a', { proof_state: 'PROVEN' }),
  ]
  assert.deepEqual(surplus(rows, 1), ['d', 'b', 'a'])
})

test('pruning keeps backups that were restored or are being proven', () => {
  const restored = ['RUNNING', 'SUCCEEDED', 'FAILED'] as const
  const rows = [
    made('newest'),
    ...restored.map((restore_state) => made(restore_state, { restore_state })),
    made('proving', { proof_state: 'RUNNING' }),
    made('old'),
  ]
  assert.deepEqual(surplus(rows, 1), ['old'])
})

test('failed backups do not count towards the policy, and are removed with the backups around them', () => {
  assert.deepEqual(surplus([failed('f3'), made('b'), failed('f2'), made('a'), failed('f1')], 2), ['f1'])
  assert.deepEqual(surplus([failed('f3'), failed('f2'), failed('f1')], 2), ['f1'])
})
