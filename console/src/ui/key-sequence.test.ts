import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nothingPressed, press } from './key-sequence.ts'

const known = ['?', 'd', 'g p', 'g e']

/** Presses the keys one after the other, `gapMs` apart, and returns the completed sequences. */
function completed(keys: readonly string[], gapMs = 100): string[] {
  let pressed = nothingPressed
  const found: string[] = []
  for (const [index, key] of keys.entries()) {
    const next = press(pressed, { key, at: 1000 + index * gapMs }, known)
    pressed = next.pressed
    if (next.done) found.push(next.done)
  }
  return found
}

test('one key and two keys complete a shortcut', () => {
  assert.deepEqual(completed(['?', 'g', 'p', 'd']), ['?', 'g p', 'd'])
})

test('a sequence is forgotten after a while', () => {
  assert.deepEqual(completed(['g', 'p'], 2_000), [])
})

test('a key that does not continue a sequence begins a new one', () => {
  assert.deepEqual(completed(['g', 'x', 'p', 'g', 'g', 'e', 'g', 'd']), ['g e', 'd'])
})
