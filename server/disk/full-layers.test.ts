import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullLayers } from './full-layers.ts'

const gibibyte = 1024 ** 3
const layer = (gib: number, release = 'now') => ({ service: 's', release, bytes: gib * gibibyte })
const limit = (limit_gib: number | null) => [{ service_id: 's', release_id: 'now', limit_gib }]

test('a replica may write outside its volumes up to the limit of its service or the platform', () => {
  const isFull = (gib: number, limit_gib: number | null) =>
    fullLayers([layer(1), layer(gib)], limit(limit_gib), 10).size
  assert.deepEqual(
    [isFull(10, null), isFull(10.1, null), isFull(10.1, 20), isFull(2, 2), isFull(2.1, 2)],
    [0, 1, 0, 0, 1],
  )
})

test('layers of other versions of the service do not count', () => {
  assert.equal(fullLayers([layer(99, 'before')], limit(null), 10).size, 0)
})

test('the reason names the amount written, the limit and the remedy', () => {
  const reason = fullLayers([layer(12.34)], limit(null), 10).get('s') ?? ''
  assert.match(reason, /wrote 12\.4 GiB outside of its volumes, and its limit is 10 GiB\. .*deploy again/)
})
