import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grows } from './declared-sizes.ts'
import {
  claimReason,
  excessReason,
  judgeOrganization,
  limitOf,
  type OrganizationFigures,
  sumOf,
} from './organization-limit.ts'
import { countGrowth, type Owner, sumByOrganization } from './organization-sums.ts'

const gibibyte = 1024 ** 3
const mebibyte = 1024 ** 2
const figures = (change: Partial<OrganizationFigures>): OrganizationFigures => ({
  volumes: 0,
  declared_volumes: 0,
  layers: 0,
  images: 0,
  backups: 0,
  repositories: 0,
  logs: 0,
  measured_at: new Date(),
  disk_bytes: 100 * gibibyte,
  ...change,
})

test('the limit is the operator’s, half of the disk by default, and none for 0 or before a measurement', () => {
  assert.equal(limitOf(7, 100), 7)
  assert.equal(limitOf(undefined, 101), 50)
  assert.equal(limitOf(0, 100), undefined)
  assert.equal(limitOf(undefined, null), undefined)
})

test('a reason names the sum, the parts, the limit and the remedy', () => {
  const over = figures({ volumes: 12 * gibibyte, images: 5.05 * gibibyte, backups: 1024 })
  assert.equal(excessReason(over, 18 * gibibyte), undefined)
  assert.equal(excessReason(over, undefined), undefined)
  assert.equal(excessReason(over, sumOf(over)), undefined)
  assert.match(
    excessReason(over, 17 * gibibyte) ?? '',
    /takes 17\.1 GiB of the disk \(volumes 12\.0, built images 5\.1, backups 0\.001\), and its limit is 17\.0 GiB\. Delete .*ask the operator/,
  )
})

test('a declared size counts when it is larger than the volume', () => {
  const declared = figures({ volumes: gibibyte, declared_volumes: 30 * gibibyte, images: gibibyte })
  assert.equal(claimReason(declared, 31 * gibibyte), undefined)
  assert.match(
    claimReason(declared, 30 * gibibyte) ?? '',
    /^storage: .*31\.0 GiB .*limit is 30\.0 GiB\. .*smaller size/,
  )
})

test('settings are judged by their new or larger storages', () => {
  const storage = [{ id: 'a', size: 10 }]
  assert.equal(grows(undefined, {}), false)
  assert.equal(grows(undefined, { storage }), true)
  assert.equal(grows({ storage }, { storage }), false)
  assert.equal(grows({ storage }, { storage: [{ id: 'b', size: 1 }] }), true)
  assert.equal(grows({ storage: 10 }, { storage: 9 }), false)
  assert.equal(grows({ storage: 10 }, { storage: 11 }), true)
})

test('growing services are stopped at once beyond 150 %, and at the second measurement beyond 110 %', () => {
  assert.equal(judgeOrganization(110, 100, true), 'within')
  assert.equal(judgeOrganization(111, 100, false), 'over')
  assert.equal(judgeOrganization(111, 100, true), 'stop')
  assert.equal(judgeOrganization(150, 100, false), 'over')
  assert.equal(judgeOrganization(151, 100, false), 'stop')
  assert.equal(judgeOrganization(151, undefined, true), 'within')
})

test('a measurement is summed by organization; things without an owner do not count', () => {
  const owner = (id: string, organization_id: string, is_service = true): Owner => ({ id, organization_id, is_service })
  const owners = [
    owner('s1', 'A'),
    owner('s2', 'A'),
    owner('s3', 'B'),
    owner('copy', 'A', false),
    owner('run', 'B', false),
  ]
  const image = (bytes: number, ...services: string[]) => ({ references: [], services, bytes, createdAt: new Date() })
  const { services, organizations } = sumByOrganization(
    {
      disk: {
        volumes: [
          { id: 'v1', service: 's1', bytes: 1 },
          { id: 'v2', service: 'copy', bytes: 2 },
          { id: 'v3', service: 'stranger', bytes: 4 },
          { id: 'v4', bytes: 8 },
        ],
        layers: [
          { service: 's1', release: 'r', bytes: 16 },
          { service: 's1', release: 'r', bytes: 32 },
        ],
        runs: [{ service: 's2', run: 'r', bytes: 3 }],
        images: [image(64, 's1', 's2', 's3'), image(128, 's3'), image(256), image(512, 'stranger')],
      },
      logs: new Map([
        ['s2', 1],
        ['run', 2],
        ['gone', 4],
      ]),
      repositories: new Map([['B', 5]]),
    },
    owners,
  )
  assert.deepEqual(services, [
    { service_id: 's1', organization_id: 'A', part: 'v1', bytes: 1 },
    { service_id: 's1', organization_id: 'A', part: 'LAYERS', bytes: 48 },
    { service_id: 's2', organization_id: 'A', part: 'LAYERS', bytes: 3 },
  ])
  assert.deepEqual(organizations.get('A'), { images: 64, repositories: 0, logs: 1, scratch: 2 })
  assert.deepEqual(organizations.get('B'), { images: 192, repositories: 5, logs: 2, scratch: 0 })
})

test('growth counts from the measurement before, and from the first one beyond the limit while that lasts', () => {
  const part = (bytes: number) => [{ service_id: 's', organization_id: 'A', part: 'v', bytes: bytes * mebibyte }]
  const former = (kept: number) => [{ service_id: 's', part: 'v', kept_bytes: kept * mebibyte }]
  const [judged, known, nobody] = [new Set(['A']), new Set(['A']), new Set<string>()]
  const grown = (...given: Parameters<typeof countGrowth>) => {
    const found = countGrowth(...given)
    return [found.grown.get('s') ?? 0, found.kept[0]?.kept_bytes ?? 0].map((bytes) => bytes / mebibyte)
  }
  assert.deepEqual(grown(part(100), [], { judged: nobody, known: nobody }), [0, 100], 'nothing is known of it')
  assert.deepEqual(grown(part(100), [], { judged, known }), [100, 0], 'it is new')
  assert.deepEqual(grown(part(116), former(100), { judged, known }), [0, 100])
  assert.deepEqual(grown(part(117), former(100), { judged, known }), [17, 100])
  assert.deepEqual(grown(part(117), former(100), { judged: nobody, known }), [17, 117])
  assert.deepEqual(grown(part(20), former(100), { judged, known }), [0, 20], 'it shrank')
})
