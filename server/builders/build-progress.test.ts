import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followProgress } from './build-progress.ts'
import type { Vertex } from './trace.ts'

const vertex = (name: string, change: Partial<Vertex> = {}): Vertex => ({
  digest: name,
  name,
  cached: false,
  started: true,
  completed: false,
  error: '',
  ...change,
})
const log = (name: string, text: string, stream = 1) => ({ vertex: name, stream, text: Buffer.from(text) })

test('followProgress announces each step once, shows its output, and omits internal steps', () => {
  const lines: string[] = []
  const progress = followProgress({ line: (text) => lines.push(text) })
  progress.report({
    vertices: [vertex('[internal] load remote build context'), vertex('A', { started: false })],
    logs: [],
  })
  progress.report({ vertices: [vertex('A')], logs: [log('A', 'half ')] })
  progress.report({ vertices: [vertex('A')], logs: [log('A', 'line\nrest'), log('A', 'error\n', 2)] })
  progress.report({
    vertices: [vertex('A', { completed: true }), vertex('B', { cached: true, completed: true })],
    logs: [],
  })
  progress.end()
  assert.deepEqual(lines, ['A', 'half line', 'error', 'rest', 'B (unchanged, reused)'])
})

test('failedStep returns the step that failed, not those stopped because of it', () => {
  const progress = followProgress({ line: () => {} })
  const logs = Array.from({ length: 30 }, (_, number) => log('A', `${number}\n`))
  progress.report({ vertices: [vertex('A'), vertex('B')], logs })
  progress.report({ vertices: [vertex('B', { completed: true, error: 'context canceled' })], logs: [] })
  progress.report({ vertices: [vertex('A', { completed: true, error: 'exit code: 1' })], logs: [] })
  progress.report({ vertices: [vertex('C', { completed: true, error: 'context canceled' })], logs: [] })
  progress.end()
  const failed = progress.failedStep()
  assert.equal(failed?.name, 'A')
  assert.deepEqual([failed?.lastLines.length, failed?.lastLines[0], failed?.lastLines.at(-1)], [20, '10', '29'])
})

test('followProgress keeps no more than 5000 steps, and shortens their names', () => {
  const lines: string[] = []
  const progress = followProgress({ line: (text) => lines.push(text) })
  const vertices = Array.from({ length: 6000 }, (_, index) => vertex(`${index} ${'x'.repeat(10)}`))
  progress.report({ vertices, logs: [] })
  progress.report({ vertices: [vertex('long', { digest: 'x'.repeat(1000) })], logs: [] })
  assert.equal(lines.length, 5000)
  const other: string[] = []
  const names = followProgress({ line: (text) => other.push(text) })
  names.report({ vertices: [vertex('n'.repeat(100_000), { digest: 'sha256:1' })], logs: [] })
  assert.deepEqual(
    other.map(({ length }) => length),
    [16 * 1024],
  )
})
