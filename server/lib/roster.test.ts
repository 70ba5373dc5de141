import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRoster } from './roster.ts'

test('members are listed in the order in which they came, and found by their names', () => {
  const roster = createRoster([{ name: 'b' }, { name: 'a' }])
  const before = roster.all
  assert.equal(roster.all, before)
  roster.add({ name: 'c' })
  roster.remove('b')
  roster.remove('unknown')
  assert.deepEqual(
    roster.all.map(({ name }) => name),
    ['a', 'c'],
  )
  assert.deepEqual([roster.find('a'), roster.find('b')], [{ name: 'a' }, undefined])
  assert.equal(before.length, 2)
})

test('a name is there once', () => {
  assert.throws(() => createRoster([{ name: 'a' }, { name: 'a' }]), /"a" is there twice/)
  assert.throws(() => createRoster([{ name: 'a' }]).add({ name: 'a' }), /"a" is there twice/)
})

test('something is created once for each member while it remains', () => {
  const roster = createRoster([{ name: 'a' }])
  let count = 0
  const each = roster.each(({ name }) => `${name}${++count}`)
  assert.deepEqual(each.all, ['a1'])
  assert.equal(each.all, each.all)
  roster.add({ name: 'b' })
  assert.deepEqual(each.all, ['a1', 'b2'])
  roster.remove('a')
  assert.deepEqual(each.all, ['b2'])
  roster.add({ name: 'a' })
  assert.deepEqual(each.all, ['b2', 'a3'])
})
