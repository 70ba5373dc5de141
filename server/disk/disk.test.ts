import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { giveUpReleases } from '../releases/release-store.ts'
import { keptImages } from './disk-store.ts'
import { createDiskKeeper } from './keeper.ts'
import { sortDisk } from './sort-disk.ts'

/** Kept and removed images, and the reported disk use. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, engine, builder, database } = platform
await platform.addRepository(a)
const later = { ...systemClock, now: () => new Date(Date.now() + 2 * 3600_000) }
const keeper = (budgetBytes: number | undefined, at = systemClock, engines: FakeEngine = engine) =>
  createDiskKeeper({
    name: 'local',
    database,
    engine: engines,
    builder,
    clock: at,
    log: silentLogger,
    budgetBytes,
    layerGiB: 10,
    failRun: async () => {},
    measureLogs: async () => ({ count: 3, bytes: 30 }),
  })
const signal = AbortSignal.timeout(60_000)

const must = async (method: string, at: string, sent?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, sent, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`)
  return Object(answer.body)
}
async function deploy(path: string, action: string, sent?: object) {
  await must('POST', `${path}/${action}`, sent)
  await until('it has ended', async () => (await must('GET', `${path}/status`)).deployment_request_id === null)
  assert.match((await must('GET', `${path}/status`)).state, /DEPLOYED|RESTARTED/)
}

test('an image is removed when no kept version has it, unless someone else brought it', async () => {
  const { containerId = '' } = (await platform.addObjects(a)).more
  const path = `/container/${containerId}`
  const foreign = `docker.io/library/foreign@sha256:${'f'.repeat(64)}`
  await engine.fetchImage(foreign, undefined, { signal, output: { line: () => {} } })
  const before = new Set(engine.images.references())
  for (const image_tag of ['t1', 't2', 't3']) await deploy(path, 'deploy', { image_tag })
  // The same image again does not count as another one.
  for (let times = 0; times < 3; times++) await deploy(path, 'restart-service')
  const [first, second, third] = engine.images.references().filter((one) => !before.has(one))
  await giveUpReleases(database, 2)
  assert.deepEqual((await keptImages(database, containerId)).sort(), [third, second].sort())
  await keeper(undefined).reconcile(signal)
  assert.ok(engine.images.references().includes(first ?? ''), 'what was fetched just now stays')
  await keeper(undefined, later).reconcile(signal)
  const left = engine.images.references()
  assert.deepEqual(
    [first, second, third, foreign].map((one) => left.includes(one ?? '')),
    [false, true, true, true],
  )
  assert.equal(await countRows(first), 0)
  await deploy(path, 'deploy', { image_tag: 't1' })
  assert.ok(engine.images.references().includes(first ?? ''), 'it is fetched again')
  assert.equal(await countRows(first), 1)
})

test('the last measurement is reported without calling the engine', async () => {
  const { organizationId } = a
  const [cluster] = (await must('GET', `/organization/${organizationId}/cluster`)).results
  const path = `/organization/${organizationId}/cluster/${cluster.id}/diskUsage`
  await keeper(500_000).reconcile(signal)
  engine.reachable = false
  try {
    const told = await must('GET', path)
    assert.ok(Date.parse(told.measured_at) > Date.now() - 60_000)
    assert.deepEqual([told.disk_bytes, told.disk_free_bytes, told.budget_bytes], [1_000_000, 500_000, 500_000])
    const parts = new Map(told.parts.map((part: { name: string }) => [part.name, part]))
    assert.deepEqual(parts.get('LOGS'), { name: 'LOGS', count: 3, bytes: 30, freeable_bytes: 0 })
    assert.deepEqual([...parts.keys()], ['IMAGES', 'BUILD_CACHE', 'VOLUMES', 'LOGS'])
    await keeper(500_000).reconcile(signal)
  } finally {
    engine.reachable = true
  }
  assert.equal((await call(a.tokens.READ, 'GET', path)).status, 403)
  const record = await must('POST', `/organization/${organizationId}/cluster`, {
    name: 'far',
    region: 'eu',
    cloud_provider: 'AWS',
    kubernetes: 'SELF_MANAGED',
    features: [],
  })
  const refused = await call(a.tokens.ADMIN, 'GET', path.replace(cluster.id, record.id))
  assert.equal(refused.status, 409, refused.text)
})

test('built images that no kept version has are removed, and caches beyond the operator’s budget', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  await deploy(path, 'deploy', {})
  const [reference = ''] = builder.references().filter((one) => one.startsWith(`quayside/${applicationId}:`))
  const images = new FakeEngine({ clock: systemClock })
  const image = (name: string, service: string, age: number) => ({
    references: [name],
    services: [service],
    bytes: 100_000,
    createdAt: new Date(Date.now() - age),
  })
  const old = `quayside/${applicationId}:old`
  images.images.built.push(
    image(reference, applicationId, 0),
    image(old, applicationId, 1000),
    image('quayside/stranger:1', '0190c0de-0000-7000-8000-000000000000', 5000),
  )
  images.images.cacheBytes = 300_000
  const pruned: [string, readonly string[]][] = []
  const watched = {
    prune: async (service: string, keep: readonly string[]) => {
      pruned.push([service, keep])
      images.images.built.splice(1, 1)
    },
  }
  const keep = (budgetBytes: number | undefined) =>
    createDiskKeeper({
      name: 'local',
      database,
      engine: images,
      builder: watched,
      clock: systemClock,
      log: silentLogger,
      budgetBytes,
      layerGiB: 10,
      failRun: async () => {},
      measureLogs: async () => ({ count: 0, bytes: 0 }),
    })
  const roomy = keep(undefined)
  await roomy.reconcile(signal)
  assert.deepEqual(pruned, [[applicationId, [reference]]], 'what no kept version has goes at any rate')
  assert.equal(images.images.cacheBytes, 300_000, 'the cache has no owner, and no budget was set')
  const tight = keep(250_000)
  await tight.reconcile(signal)
  assert.equal(images.images.cacheBytes, 150_000, 'the cache gives what was missing')
  const [part] = (await tight.usage())?.parts ?? []
  assert.deepEqual(part, { name: 'IMAGES', count: 1, bytes: 100_000, freeable_bytes: 0 })
  await tight.reconcile(signal)
  assert.equal(pruned.length, 1, 'it is not measured again at once')
})

test('a service loses no image when its deployment begins after the disk was measured', async () => {
  const services = [(await platform.addObjects(a)).applicationId, (await platform.addObjects(a)).applicationId]
  const images = new FakeEngine({ clock: systemClock })
  for (const [age, service] of services.entries()) {
    const createdAt = new Date(1000 + age)
    images.images.built.push({ references: [`quayside/${service}:old`], services: [service], bytes: 1, createdAt })
  }
  const pruned: string[] = []
  const prune = async (service: string) => {
    pruned.push(service)
    const [, second = ''] = services
    builder.tell(second, { type: 'hang' })
    await must('POST', `/application/${second}/deploy`, {})
  }
  await createDiskKeeper({
    name: 'local',
    ...{ database, engine: images, builder: { prune }, clock: systemClock, log: silentLogger },
    ...{
      budgetBytes: undefined,
      layerGiB: 10,
      failRun: async () => {},
      measureLogs: async () => ({ count: 0, bytes: 0 }),
    },
  }).reconcile(signal)
  assert.deepEqual(pruned, services.slice(0, 1))
})

test('an image of two services loses each tag separately, and is not freeable while one service needs it', () => {
  const both = ['quayside/one:1', 'quayside/two:1']
  const images = [{ references: both, services: ['one', 'two'], bytes: 100, createdAt: new Date(0) }]
  const empty = {
    totalBytes: 1000,
    freeBytes: 500,
    images,
    volumes: [],
    layers: [],
    runs: [],
    buildCache: { bytes: 0, freeableBytes: 0 },
  }
  const sorted = (kept: readonly { service_id: string; reference: string }[]) => {
    const idle = { isBusy: false }
    const needs = {
      kept: Map.groupBy(kept, (row) => row.service_id),
      services: new Map([
        ['one', idle],
        ['two', idle],
      ]),
      fetched: [],
    }
    const options = { now: new Date(), logs: { count: 0, bytes: 0 }, budgetBytes: undefined }
    const { usage, freeable } = sortDisk(empty, needs, options)
    return [freeable.built, usage.parts[0]?.freeable_bytes]
  }
  const [one, two] = [
    { service_id: 'one', reference: both[0] ?? '' },
    { service_id: 'two', reference: both[1] ?? '' },
  ]
  assert.deepEqual(sorted([one, two]), [[], 0])
  assert.deepEqual(sorted([two]), [[{ service: 'one', kept: [] }], 0])
  assert.deepEqual(sorted([]), [
    [
      { service: 'one', kept: [] },
      { service: 'two', kept: [] },
    ],
    100,
  ])
})

for (const [what, cacheBytes, logBytes, budgetBytes, sentence] of [
  ['caches that only a setting frees', 300_000, 600_000, undefined, /caches .* QUAYSIDE_DISK_BUDGET is set/],
  ['nothing that could go', 0, 600_000, undefined, /nothing is left that may be removed/],
  ['too little that could go', 300_000, 600_000, 500_000, /nothing is left that may be removed/],
  ['enough that could go', 300_000, 300_000, 500_000, /build caches were removed/],
] as const) {
  test(`of a disk over its budget with ${what}, the log says what to do`, async () => {
    const images = new FakeEngine({ clock: systemClock })
    images.images.cacheBytes = cacheBytes
    const logged: string[] = []
    const told = (_facts: object, text: string): void => void logged.push(text)
    const keeper = createDiskKeeper({
      name: 'local',
      database,
      engine: images,
      builder,
      clock: systemClock,
      log: Object.assign(silentLogger.child({}), { info: told, warn: told }),
      budgetBytes,
      layerGiB: 10,
      failRun: async () => {},
      measureLogs: async () => ({ count: 1, bytes: logBytes }),
    })
    await keeper.reconcile(signal)
    assert.equal(logged.length, 1)
    assert.match(logged[0] ?? '', sentence)
  })
}

async function countRows(reference: string | undefined): Promise<number> {
  const rows = await database`select from fetched_image where reference = ${reference ?? ''}`
  return rows.length
}

test('a volume beyond its size logs a warning until the storage is enlarged', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const { storage } = await must('PUT', path, { storage: [{ mount_point: '/data', type: 'FAST_SSD', size: 1 }] })
  await deploy(path, 'deploy', {})
  let bytes = 1024 ** 3
  let rounds = 0
  const full = Object.assign(Object.create(engine), {
    disk: async () => ({ ...(await engine.disk(signal)), volumes: [{ id: storage[0].id, bytes }] }),
  })
  const disk = keeper(undefined, { ...systemClock, monotonic: () => ++rounds * 3600_000 }, full)
  await disk.reconcile(signal)
  assert.equal(disk.troubleOf(applicationId), undefined)
  bytes *= 2
  await disk.reconcile(signal)
  assert.match(disk.troubleOf(applicationId) ?? '', /\/data takes 2\.0 GiB, more than its size of 1 GiB/)
  await must('PUT', path, { storage: [{ ...storage[0], size: 3 }] })
  await deploy(path, 'deploy', {})
  await disk.reconcile(signal)
  assert.equal(disk.troubleOf(applicationId), undefined)
})
