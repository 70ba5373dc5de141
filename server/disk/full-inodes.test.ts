import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../lib/id.ts'
import { areInodesShort, fullInodes, mostInodes, organizationInodes } from './full-inodes.ts'

const space = (freeInodes: number, totalInodes = 1000) => ({ totalBytes: 0, freeBytes: 0, totalInodes, freeInodes })
const storage = (service_id: string, storage_id: string) => ({
  ...{ service_id, release_id: 'now', storage_id, mount_point: '/data', size_gib: 1 },
})
const known = {
  storages: [storage('s', 'v'), storage('s', 'w'), storage('t', 'x')],
  releases: ['s', 't'].map((service_id) => ({ service_id, release_id: 'now', limit_gib: null })),
  organizationOf: new Map(),
  organizationMost: undefined,
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
    /^It was stopped: .* inodes, and more than 100 files and directories .*deploy again/,
  )
  assert.deepEqual(
    found.runs.map(({ id }) => id),
    [run],
  )
  assert.match(found.runs[0]?.reason ?? '', /^It was ended: .*inodes/)
})

test('the largest services and runs of an organization are stopped while it has more than its share', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'] as const
  const counts = {
    volumes: [...ids.map((id, index) => ({ id, inodes: 85 + index })), { id: 'x', inodes: 99 }],
    layers: [],
    runs: [{ service: 'a', run: `${run}-1`, inodes: 100 }],
  }
  const shared = {
    storages: [...ids.map((id) => storage(id, id)), storage('other', 'x')],
    releases: [],
    organizationOf: new Map<string, string>([...ids.map((id) => [id, 'A'] as const), ['other', 'B']]),
    organizationMost: 500,
  }
  const found = fullInodes(counts, shared, 100)
  // 625 in all: without the run (100) and f (90) it is 435.
  assert.deepEqual([[...found.services.keys()], found.runs.map(({ id }) => id)], [['f'], [run]])
  assert.match(
    found.services.get('f') ?? '',
    /^It was stopped: .*inodes\. Its organization has more than 500 files .*90 of them are its own\. Delete/,
  )
  assert.equal(fullInodes(counts, { ...shared, organizationMost: 625 }, 100).services.size, 0)
  assert.equal(fullInodes(counts, { ...shared, organizationMost: undefined }, 100).services.size, 0)
})

test('an organization has half of the inodes once less than a tenth is free, if organizations have a limit', () => {
  assert.equal(organizationInodes(space(99), true), 500)
  assert.equal(organizationInodes(space(100), true), undefined)
  assert.equal(organizationInodes(space(99), false), undefined)
})
