import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contract, type Operation } from '@quayside/contract'
import { reportOf } from '../../server/http/change-events.ts'
import { laterReports } from './change-reports.ts'

const operations = Object.entries<Operation>(contract)

test('each operation that may write has an audit event', () => {
  const silent = operations.filter(
    ([, { method, event, reads, refuses }]) => method !== 'GET' && !event && !reads && refuses === undefined,
  )
  assert.deepEqual(
    silent.map(([name]) => name),
    [],
  )
})

test('the stream reports each operation with an audit event, or the report says why it needs not', () => {
  const vague = operations.flatMap(([name, { event }]) => {
    const report = event && reportOf(event.type, event.target)
    return typeof report === 'object' && report.because.length < 20 ? [name] : []
  })
  assert.deepEqual(vague, [])
  const changes = operations.filter(([, { event }]) => event && reportOf(event.type, event.target) === 'changed')
  assert.ok(changes.length > 150, `${changes.length} operations`)
})

test('the table of exceptions names operations of the contract with a reason', () => {
  for (const [name, because] of Object.entries(laterReports)) {
    assert.ok(Object.hasOwn(contract, name), name)
    assert.ok(because.length >= 20, name)
  }
})
