import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contract, type Operation } from './contract.ts'

const operations = Object.entries<Operation>(contract)

test('whatever writes says what the record of changes tells of it', () => {
  for (const [name, { method, event, reads }] of operations) {
    assert.equal(event !== undefined, method !== 'GET' && !reads, name)
  }
})

test('no two operations answer the same request', () => {
  const seen = new Map<string, string>()
  for (const [name, { method, path }] of operations) {
    const request = `${method} ${path.replace(/\{\w+\}/g, '{}')}`
    assert.equal(seen.get(request), undefined, `${name} and ${seen.get(request)}`)
    seen.set(request, name)
  }
})
