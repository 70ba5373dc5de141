import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fullVolumes, judgeVolumes } from './full-volumes.ts'

const gibibyte = 1024 ** 3
const size = (service_id: string, storage_id: string, size_gib = 1, mount_point: string | null = '/data') => ({
  ...{ service_id, release_id: 'r', storage_id, mount_point, size_gib },
})

test('a volume is no problem when it is within its size or unmeasured', () => {
  assert.equal(fullVolumes([{ id: 'v', bytes: gibibyte }], [size('s', 'v'), size('t', 'w')]).size, 0)
})

test('a volume beyond its size is named with its use and the remedy', () => {
  const found = fullVolumes([{ id: 'v', bytes: 1.41 * gibibyte }], [size('s', 'v')])
  assert.match(
    found.get('s') ?? '',
    /volume \/data takes 1\.5 GiB, more than its size of 1 GiB\. Delete data, or enlarge/,
  )
  const ofDatabase = fullVolumes([{ id: 'd', bytes: gibibyte + 1 }], [size('d', 'd', 1, null)])
  assert.match(ofDatabase.get('d') ?? '', /volume of data takes 1\.1 GiB/)
})

test('volumes are judged separately, and all full ones of a service are named', () => {
  const volumes = ['v', 'w', 'x'].map((id) => ({ id, bytes: 2 * gibibyte }))
  const found = fullVolumes(volumes, [size('s', 'v', 1, '/a'), size('s', 'w', 1, '/b'), size('s', 'x', 3, '/c')])
  assert.match(found.get('s') ?? '', /\/a takes .*\/b takes/)
  assert.doesNotMatch(found.get('s') ?? '', /\/c/)
})

test('a volume is judged by its excess and by the previous measurement', () => {
  const verdict = (gib: number, watched: string[] = []) => {
    const { stop, watch } = judgeVolumes([{ id: 'v', bytes: gib * gibibyte }], [size('s', 'v', 10)], new Set(watched))
    return [[...stop.keys()], [...watch.keys()]]
  }
  const [nothing, watch, stop] = [
    [[], []],
    [[], ['s']],
    [['s'], []],
  ]
  assert.deepEqual([verdict(11), verdict(11, ['s'])], [nothing, nothing])
  assert.deepEqual([verdict(11.1), verdict(15), verdict(11.1, ['s']), verdict(15.1)], [watch, watch, stop, stop])
})
