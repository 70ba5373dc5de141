import assert from 'node:assert/strict'
import { test } from 'node:test'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { withWrapped } from './wrapped-secrets.ts'

/** Breaks a text between words as the engines do. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

test('a secret of several words is hidden wherever its line is broken', () => {
  const secret = Array.from({ length: 60 }, (_, n) => `canary${n}`).join(' ')
  const mask = masker(withWrapped([new Secret(secret)]))
  for (let before = 0; before < 78; before++) {
    const lines = wrap(`${'x'.repeat(before)} the content is ${secret}`, 78).map(mask)
    assert.doesNotMatch(lines.join('\n'), /canary\d+ canary\d+/, `after ${before} characters`)
  }
})

test('a secret of one word has no further parts', () => {
  assert.equal(withWrapped([new Secret('canary-secret')]).length, 1)
})

test('a secret of many short words has a limited number of parts', () => {
  assert.ok(withWrapped([new Secret('a b '.repeat(100_000))]).length < 500)
})
