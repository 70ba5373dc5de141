import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StageRow } from '../api/stage-rows.ts'
import { mapLayout } from './map-layout.ts'

const stage = (name: string, count: number): StageRow => ({
  id: name,
  name,
  services: Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    name: `${name} ${index}`,
    kind: 'application',
    // Only ids and places are compared.
    status: {} as StageRow['services'][number]['status'],
  })),
})

test('stages are columns from left to right, below their headings', () => {
  const { boxes } = mapLayout([stage('data', 2), stage('web', 1)], [])
  const [data, first, second, web, page] = boxes
  assert.ok(data && first && second && web && page)
  assert.deepEqual([data.isHeading, data.data], [true, { heading: 'data' }])
  assert.ok(first.y > data.y + data.height && second.y > first.y + first.height)
  assert.equal(first.x, second.x)
  assert.ok(web.x > first.x + first.width)
  assert.equal(page.x, web.x)
})

test('no two boxes overlap, and a long stage has several columns', () => {
  const { boxes } = mapLayout([stage('a', 150), stage('b', 50)], [])
  assert.equal(boxes.length, 202)
  const isApart = (one: (typeof boxes)[number], other: (typeof boxes)[number]): boolean =>
    one.x + one.width <= other.x ||
    other.x + other.width <= one.x ||
    one.y + one.height <= other.y ||
    other.y + other.height <= one.y
  const overlapping = boxes.filter((one, index) => boxes.some((other, at) => at > index && !isApart(one, other)))
  assert.deepEqual(overlapping, [])
  const height = Math.max(...boxes.map(({ y }) => y))
  const width = Math.max(...boxes.map(({ x }) => x))
  assert.ok(width < height * 4 && height < width * 4, `${width} × ${height}`)
})

test('lines lead from a service to the one that its variables name', () => {
  const { lines } = mapLayout(
    [stage('a', 2)],
    [
      { service_id: 'a-0', refers_to_id: 'a-1', keys: ['HOST', 'PORT'] },
      { service_id: null, refers_to_id: 'a-1', keys: ['SHARED'] },
      { service_id: 'a-0', refers_to_id: 'elsewhere', keys: ['GONE'] },
    ],
  )
  assert.deepEqual(lines, [{ from: 'a-0', to: 'a-1', label: 'HOST, PORT' }])
})
