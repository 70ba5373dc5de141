import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { areInodesShort, fullInodes, mostInodes } from './full-inodes.ts'

const space = (freeInodes: number, totalInodes = 1000) => ({ totalBytes: 0, freeBytes: 0, totalInodes, freeInodes })
const storage = (service_id: string, storage_id: string) => ({
  ...{ service_id, release_id: 'now', storage_id, mount_point: '/data', size_gib: 1 },
})
const known = {
  storages: [storage('s', 'v'), storage('s', 'w'), storage('t', 'x')],
  releases: ['s', 't'].map((service_id) => ({ service_id, release_id: 'now', limit_gib: null })),
}
const run = newId()

test('inodes are short below a tenth, or after a twentieth was used since the last measurement', () => {
  assert.deepEqual([areInodesShort(space(100), 100), areInodesShort(space(99), 99)], [false, true])
  assert.deepEqual([areInodesShort(space(500), 550), areInodesShort(space(500), 551)], [false, true])
  assert.equal(areInodesShort(space(0, 0), 0), false, 'a file system that makes them as they are needed')
})

test('inodes are counted together for volumes and replicas of a service and for attempts of a run', () => {
  const layer = (release: string, inodes: number) => ({ service: 't', release, inodes })
  const tried = (number: number) => ({ service: 'j', run: `${run}-${number}`, inodes: 60 })
  const found = fullInodes(
    {
      volumes: [
        { id: 'v', inodes: 60 },
        { id: 'w', inodes: 41 },
        { id: 'x', inodes: 60 },
        { id: 'of nobody', inodes: 999 },
      ],
      layers: [layer('now', 40), layer('before', 999)],
      runs: [tried(1), tried(2)],
    },
    known,
    mostInodes(space(0)),
  )
  assert.deepEqual([...found.services.keys()], ['s'])
  assert.match(
    found.services.get('s') ?? '',
    /^It was stopped: .* more than 100 files and directories .* inodes\. .*deploy again/,
  )
  assert.deepEqual(
    found.runs.map(({ id }) => id),
    [run],
  )
  assert.match(found.runs[0]?.reason ?? '', /^It was ended: .*inodes/)
})
