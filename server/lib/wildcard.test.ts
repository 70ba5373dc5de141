import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesWildcard } from './wildcard.ts'

test('a star matches any text, even an empty one, and a question mark one character', () => {
  for (const [wildcard, name] of [
    ['*', 'anything'],
    ['pr-*', 'PR-12'],
    ['pr-*', 'pr-'],
    ['*-staging', 'shop-staging'],
    ['a*b*c', 'a-b-b-c'],
    ['main', 'Main'],
    ['pr-?', 'pr-1'],
    ['?', '\u{1f600}'],
    ['*?', 'a'],
    ['a?c*e', 'abcde'],
    ['?*?', 'ab'],
  ] as const)
    assert.ok(matchesWildcard(wildcard, name), `${wildcard} ${name}`)
  for (const [wildcard, name] of [
    ['', 'anything'],
    ['pr-*', 'my-pr-12'],
    ['ab*bc', 'abc'],
    ['a*b*c', 'a-c-b'],
    ['main', 'main2'],
    ['a.c', 'abc'],
    ['pr-?', 'pr-'],
    ['pr-?', 'pr-12'],
    ['?*?', 'a'],
    ['[ab]', 'a'],
  ] as const)
    assert.ok(!matchesWildcard(wildcard, name), `${wildcard} ${name}`)
})

test('long names and wildcards are matched in few steps', () => {
  const name = 'a'.repeat(255)
  const begin = performance.now()
  for (let round = 0; round < 200; round++) {
    assert.ok(!matchesWildcard(`${'*a'.repeat(127)}b`, name))
    assert.ok(!matchesWildcard(`*${'?'.repeat(120)}${'a'.repeat(120)}b`, name))
  }
  assert.ok(performance.now() - begin < 2000)
})

test('a pattern matches any text in place of its stars', () => {
  const part = fc.string({ maxLength: 5 }).map((text) => text.replaceAll(/[*?]/g, ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 4 }), part, (pairs, end) => {
      const wildcard = `${pairs.map(([fixed]) => `${fixed}*`).join('')}${end}`
      assert.ok(matchesWildcard(wildcard, `${pairs.map(([fixed, any]) => fixed + any).join('')}${end}`))
    }),
  )
})

test('a question mark is literal if the caller says so', () => {
  assert.ok(!matchesWildcard('sh?p', 'shop', { isLiteral: true }))
  assert.ok(matchesWildcard('sh?p', 'SH?P', { isLiteral: true }))
  assert.ok(matchesWildcard('sh*', 'shop', { isLiteral: true }))
})

test('a long name and a long pattern are matched in little time', () => {
  const begin = performance.now()
  assert.ok(!matchesWildcard(`*${'a'.repeat(5000)}b`, 'a'.repeat(40_000)))
  assert.ok(!matchesWildcard(`*${'?'.repeat(2500)}${'a'.repeat(2500)}b`, 'a'.repeat(40_000)))
  assert.ok(performance.now() - begin < 500)
})

test('a pattern matches what a regular expression of the same meaning matches', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 })
  const expression = (pattern: string, one: string): RegExp =>
    new RegExp(`^${pattern.replaceAll('?', one).replaceAll('*', '[^]*')}$`)
  fc.assert(
    fc.property(text, text, (pattern, name) => {
      fc.pre(pattern !== '')
      assert.equal(matchesWildcard(pattern, name), expression(pattern, '[^]').test(name))
      assert.equal(matchesWildcard(pattern, name, { isLiteral: true }), expression(pattern, '[?]').test(name))
    }),
    { numRuns: 2000 },
  )
})
