import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../lib/clock.ts'
import { DockerDaemon } from './daemon.ts'
import { measureDisk, trimBuildCache } from './disk.ts'

const digest = `sha256:${'a'.repeat(64)}`
const replica = { 'quayside.service': 's', 'quayside.release': 'r' }
const answers: Readonly<Record<string, object>> = {
  '/info': { DockerRootDir: '/nowhere' },
  '/containers/json': [],
  '/build/prune': { CachesDeleted: ['a'], SpaceReclaimed: 70 },
  '/system/df': {
    Images: [
      {
        ...{ Created: 1, Size: 100, SharedSize: 60, Labels: { 'quayside.service': 's' } },
        RepoTags: ['quayside/s:1', 'quayside/s:2', 'quayside/t:1', 'elsewhere/u:1'],
      },
      { Created: 2, Size: 50, SharedSize: -1, Labels: null, RepoTags: null, RepoDigests: [`redis@${digest}`] },
      { Created: 3, Size: 5, SharedSize: 0, RepoDigests: ['<none>@<none>'] },
    ],
    Volumes: [
      {
        Name: 'v',
        Labels: { 'quayside.instance': 'mine', 'quayside.storage': 'one', 'quayside.service': 's' },
        UsageData: { Size: 7 },
      },
      { Name: 'w', Labels: { 'quayside.instance': 'other' }, UsageData: { Size: 1000 } },
      { Name: 'x', Labels: null, UsageData: null },
      { Name: 'y', Labels: { 'quayside.instance': 'mine', 'quayside.builder': 'b' }, UsageData: { Size: 500 } },
    ],
    Containers: [
      { Labels: { ...replica, 'quayside.instance': 'mine' }, SizeRw: 9 },
      { Labels: { ...replica, 'quayside.instance': 'mine' } },
      { Labels: { ...replica, 'quayside.instance': 'mine', 'quayside.run': 'one' }, SizeRw: 100 },
      { Labels: { ...replica, 'quayside.instance': 'mine', 'quayside.run': 'one', 'quayside.network-holder': 'true' } },
      { Labels: { ...replica, 'quayside.instance': 'other', 'quayside.run': 'two' }, SizeRw: 100 },
      { Labels: { ...replica, 'quayside.instance': 'other' }, SizeRw: 100 },
      { Labels: null, SizeRw: 100 },
    ],
    BuildCache: [
      { Size: 10, InUse: false, Shared: false },
      { Size: 20, InUse: true, Shared: false },
      { Size: 40, InUse: false, Shared: true },
    ],
  },
}

test('disk reports owners, unshared sizes and reclaimable space from the daemon’s response', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-disk-'))
  const asked: string[] = []
  let isMeasuring = false
  const server = createServer((request, response) => {
    asked.push(decodeURIComponent(request.url ?? ''))
    if (isMeasuring && request.url?.startsWith('/system/df')) {
      return void response.writeHead(500).end('{"message":"a disk usage operation is already running"}')
    }
    response.end(JSON.stringify(answers[(request.url ?? '').replace(/\?.*/, '')] ?? {}))
  }).listen(join(directory, 'docker.sock'))
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await rm(directory, { recursive: true })
  })
  const daemon = new DockerDaemon({ socketPath: join(directory, 'docker.sock'), clock: systemClock })
  const { totalBytes, freeBytes, ...found } = await measureDisk(daemon, 'mine', AbortSignal.timeout(60_000))
  assert.ok(totalBytes > freeBytes && freeBytes > 0)
  assert.deepEqual(found, {
    images: [
      {
        references: ['quayside/s:1', 'quayside/s:2', 'quayside/t:1', 'elsewhere/u:1'],
        ...{ services: ['s', 't'], bytes: 40, createdAt: new Date(1000) },
      },
      { references: [`docker.io/library/redis@${digest}`], services: [], bytes: 50, createdAt: new Date(2000) },
      { references: [], services: [], bytes: 5, createdAt: new Date(3000) },
    ],
    volumes: [{ id: 'one', service: 's', bytes: 7 }],
    layers: [
      { service: 's', release: 'r', bytes: 9 },
      { service: 's', release: 'r', bytes: 0 },
    ],
    runs: [{ service: 's', run: 'one', bytes: 100 }],
    buildCache: { bytes: 530, freeableBytes: 510 },
  })
  isMeasuring = true
  await assert.rejects(measureDisk(daemon, 'mine', AbortSignal.timeout(60_000)), { reason: 'unreachable' })
  assert.equal(await trimBuildCache({ daemon, instance: 'test' }, 1234.5, AbortSignal.timeout(60_000)), 70)
  assert.ok(
    asked.some((url) => /^\/build\/prune\?(?=.*all=true)(?=.*keep-storage=1234\b)/.test(url)),
    asked.join(),
  )
})
