import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contract, type Operation } from './contract.ts'

const operations = Object.entries<Operation>(contract)

test('every operation that writes has an audit event', () => {
  for (const [name, { method, event, reads }] of operations) {
    assert.equal(event !== undefined, method !== 'GET' && !reads, name)
  }
})

test('no two operations have the same method and path', () => {
  const seen = new Map<string, string>()
  for (const [name, { method, path }] of operations) {
    const request = `${method} ${path.replace(/\{\w+\}/g, '{}')}`
    assert.equal(seen.get(request), undefined, `${name} and ${seen.get(request)}`)
    seen.set(request, name)
  }
})
