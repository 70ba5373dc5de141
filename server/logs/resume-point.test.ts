import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredLine } from './line.ts'
import { nanoseconds, ResumePoint, resumeLines } from './resume-point.ts'

let seq = 0
const line = (at: string, text: string, replica = 'web-1', stream = 'stdout') => ({ at, text, replica, stream })
const stored = (...of: Parameters<typeof line>): StoredLine => ({ seq: ++seq, ...line(...of) })
const time = (second: number, ns = 0): string =>
  `2025-01-01T00:00:${String(second).padStart(2, '0')}.${String(ns).padStart(9, '0')}Z`

test('requests and accepts everything when nothing is stored', () => {
  const point = new ResumePoint([{ seq: 1, at: time(1), marker: 'gap', text: 'x' }])
  assert.equal(point.after, undefined)
  assert.equal(point.judge(line(time(1), 'a')), 'new')
})

test('distinguishes lines of the same time by their text, each as often as it was stored', () => {
  const point = new ResumePoint([stored(time(5), 'a'), stored(time(5), 'a'), stored(time(5), 'b')])
  const judged = ['a', 'a', 'a', 'b', 'c'].map((text) => point.judge(line(time(5), text)))
  assert.deepEqual(judged, ['stored', 'stored', 'new', 'stored', 'new'])
  assert.equal(point.judge(line(time(6), 'a')), 'new')
  assert.ok(point.isPassed)
})

test('asks from before the last line of the replica that is furthest behind', () => {
  const point = new ResumePoint([stored(time(3), 'b', 'web-2'), stored(time(30), 'a'), stored(time(31), 'a')])
  assert.equal(point.after, time(2, 999_999_999))
  assert.equal(point.judge(line(time(3), 'b', 'web-2')), 'stored')
  assert.equal(point.judge(line(time(29), 'x', 'web-2')), 'new', 'came later than what other replicas said then')
  assert.equal(point.judge(line(time(30), 'a')), 'stored')
  assert.equal(point.judge(line(time(31), 'a')), 'stored')
  assert.equal(point.judge(line(time(31), 'e', 'web-1', 'stderr')), 'new')
})

test('requests at least the last two seconds, but nothing older than the lines that it knows', () => {
  assert.equal(new ResumePoint([stored(time(31, 5), 'a')]).after, time(29, 4))
  const many = Array.from({ length: resumeLines }, (_, index) => stored(time(31, index), 'a'))
  assert.equal(new ResumePoint(many).after, time(30, 999_999_999))
})

test('reports a gap when a replica returns without its last stored line', () => {
  const point = new ResumePoint([stored(time(5), 'a')])
  assert.equal(point.judge(line(time(6), 'b')), 'gap')
  assert.equal(point.judge(line(time(7), 'c')), 'new')
})

test('reports one gap when a replica that was active at the break disappeared, none for an older one', () => {
  const rest = [stored(time(20), 'x', 'web-2'), stored(time(21), 'a')]
  const active = new ResumePoint(rest)
  assert.equal(active.judge(line(time(21), 'a')), 'stored')
  assert.equal(active.judge(line(time(22), 'b')), 'new', 'lines of others may still come')
  assert.equal(active.judge(line(time(24), 'c', 'web-3')), 'gap')
  assert.equal(active.judge(line(time(25), 'd', 'web-3')), 'new')
  const past = new ResumePoint([stored(time(1), 'x', 'web-0'), stored(time(21), 'a')])
  assert.equal(past.judge(line(time(21), 'a')), 'stored')
  assert.equal(past.judge(line(time(24), 'c')), 'new')
  assert.equal(past.judge(line(time(25), 'c')), 'new')
  assert.ok(past.isPassed)
})

test('compares times by value, whatever their number of digits', () => {
  assert.equal(nanoseconds('2025-01-01T00:00:00.1Z') + 1n, nanoseconds('2025-01-01T00:00:00.100000001Z'))
  assert.equal(nanoseconds('2025-01-01T02:00:00.5+02:00'), nanoseconds('2025-01-01T00:00:00.500Z'))
  assert.equal(nanoseconds('yesterday'), 0n)
  const point = new ResumePoint([stored('2025-01-01T00:00:05.1Z', 'a')])
  assert.equal(point.judge(line('2025-01-01T00:00:05.100000000Z', 'a')), 'stored')
  assert.equal(point.judge(line('yesterday', 'a')), 'new')
})
