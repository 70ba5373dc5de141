import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { contract, type Operation } from './contract.ts'
import { compatibilityPage, readPublicOperations } from './emit-compatibility.ts'

const known = readPublicOperations()

test('docs/compatibility.md matches the contract', () => {
  const written = readFileSync(new URL('../docs/compatibility.md', import.meta.url), 'utf8')
  assert.equal(written, compatibilityPage(known), 'run: npm run emit')
})

test('the contract has every operation that clients need', () => {
  const absent = known.filter(({ name, tier }) => tier < 2 && !(name in contract))
  assert.deepEqual(absent, [])
})

test('exactly the operations that the public API lacks are marked as extensions', () => {
  const names = new Set(known.map(({ name }) => name))
  for (const [name, { extension }] of Object.entries<Operation>(contract)) {
    assert.equal(extension === true, !names.has(name), name)
  }
})
