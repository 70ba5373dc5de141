import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemsOf, stateOf } from './cluster-nodes.ts'

type Status = 'True' | 'False' | 'Unknown'
const condition = (type: string, status: Status) => ({ type, status, reason: '', message: '' })
const machine = (unschedulable: boolean, ...conditions: readonly (readonly [string, Status])[]) => ({
  unschedulable,
  conditions: conditions.map(([type, status]) => condition(type, status)),
})

test('a node is available if it is ready and nothing presses it', () => {
  const good = machine(false, ['Ready', 'True'], ['MemoryPressure', 'False'])
  assert.deepEqual([stateOf(good), problemsOf(good)], ['AVAILABLE', []])
})

test('a node that is lost is not ready, whatever else is unknown of it', () => {
  const lost = machine(true, ['Ready', 'Unknown'], ['DiskPressure', 'Unknown'])
  assert.equal(stateOf(lost), 'NOT_READY')
  assert.deepEqual(problemsOf(lost), [condition('Ready', 'Unknown')])
})

test('a node says that it is cordoned, and that it lacks memory', () => {
  assert.equal(stateOf(machine(true, ['Ready', 'True'])), 'CORDONED')
  assert.equal(stateOf(machine(false, ['Ready', 'True'], ['MemoryPressure', 'True'])), 'UNDER_PRESSURE')
})
