import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesWildcard } from './wildcard.ts'

test('a star stands for any text, also none', () => {
  for (const [wildcard, name] of [
    ['*', 'anything'],
    ['pr-*', 'PR-12'],
    ['pr-*', 'pr-'],
    ['*-staging', 'shop-staging'],
    ['a*b*c', 'a-b-b-c'],
    ['main', 'Main'],
  ] as const)
    assert.ok(matchesWildcard(wildcard, name), `${wildcard} ${name}`)
  for (const [wildcard, name] of [
    ['', 'anything'],
    ['pr-*', 'my-pr-12'],
    ['ab*bc', 'abc'],
    ['a*b*c', 'a-c-b'],
    ['main', 'main2'],
    ['a.c', 'abc'],
  ] as const)
    assert.ok(!matchesWildcard(wildcard, name), `${wildcard} ${name}`)
})

test('whatever stands in place of the stars matches', () => {
  const part = fc.string({ maxLength: 5 }).map((text) => text.replaceAll('*', ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 4 }), part, (pairs, end) => {
      const wildcard = `${pairs.map(([fixed]) => `${fixed}*`).join('')}${end}`
      assert.ok(matchesWildcard(wildcard, `${pairs.map(([fixed, any]) => fixed + any).join('')}${end}`))
    }),
  )
})
