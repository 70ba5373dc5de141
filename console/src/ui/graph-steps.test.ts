import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type GraphBox, sidesOf, stepFrom } from './graph-steps.ts'

const box = (id: string, x: number, y: number, isHeading = false): GraphBox => ({
  id,
  x,
  y,
  width: 10,
  height: 10,
  isHeading,
})
const boxes = [box('h', 0, 0, true), box('a', 0, 20), box('b', 0, 40), box('c', 50, 40), box('d', 50, 60)]
const [heading, a, b, c] = boxes
const to = (from: GraphBox | undefined, key: string): string | undefined => stepFrom(boxes, from, key)?.id

test('arrow keys lead to the nearest box of their direction, and not to headings', () => {
  assert.deepEqual(
    [to(a, 'ArrowDown'), to(b, 'ArrowUp'), to(b, 'ArrowRight'), to(c, 'ArrowLeft')],
    ['b', 'a', 'c', 'b'],
  )
  assert.equal(to(a, 'ArrowUp'), undefined)
})

test('the first step leads to the first box, and other keys lead nowhere', () => {
  assert.equal(to(undefined, 'ArrowDown'), 'a')
  assert.equal(to(a, 'Enter'), undefined)
})

test('lines leave towards their target', () => {
  assert.ok(a && b && c && heading)
  assert.deepEqual(sidesOf(a, c), { source: 'right', target: 'left' })
  assert.deepEqual(sidesOf(c, a), { source: 'left', target: 'right' })
  assert.deepEqual(sidesOf(a, b), { source: 'right', target: 'right' })
})
