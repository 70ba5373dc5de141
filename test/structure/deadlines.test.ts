import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '..', '..')
const own = 'server/lib/deadline.ts'
/** A timeout with a name is combined within this many characters. */
const nearby = 600

/** Returns the texts in which a file combines a timeout with another signal by hand. */
function combinedByHand(text: string): readonly string[] {
  return [...text.matchAll(/AbortSignal\.any\(\[([^\]]*)\]\)/g)].flatMap(({ 0: call, 1: list = '', index }) => {
    const before = text.slice(Math.max(0, index - nearby), index)
    const timeouts = [...before.matchAll(/const (\w+) = AbortSignal\.timeout\(/g)].map(([, name = '']) => name)
    const parts = list.split(',').map((part) => part.trim())
    const isTimeout = (part: string) => part.startsWith('AbortSignal.timeout(') || timeouts.includes(part)
    return parts.some(isTimeout) ? [call] : []
  })
}

test('a timeout that a caller may also end is made in one place', () => {
  const found = sourceFiles()
    .filter((path) => path !== own)
    .flatMap((path) => combinedByHand(readFileSync(join(root, path), 'utf8')).map((call) => `${path}: ${call}`))
  assert.deepEqual(found, [])
})

test('combinations by hand are found', () => {
  assert.equal(combinedByHand('AbortSignal.any([signal, AbortSignal.timeout(5)])').length, 1)
  assert.equal(combinedByHand('const late = AbortSignal.timeout(5)\nAbortSignal.any([signal, late])').length, 1)
  assert.equal(combinedByHand('AbortSignal.any([signal, stop.signal])').length, 0)
})
