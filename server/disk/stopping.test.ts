import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError, type FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createDiskKeeper } from './keeper.ts'

/** Volumes that grow far beyond their size, as seen from the API. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, engine, builder, database } = platform
await platform.addRepository(a)
const signal = AbortSignal.timeout(120_000)
const gibibyte = 1024 ** 3
const taken = new Map<string, number>()
const layers: { service: string; release: string; bytes: number }[] = []
const measured: FakeEngine = Object.assign(Object.create(engine), {
  disk: async () => ({
    ...(await engine.disk(signal)),
    volumes: [...taken].map(([id, gib]) => ({ id, bytes: gib * gibibyte })),
    layers,
  }),
})

/** A keeper of a newly started server. It knows only the database and measures at once. */
const newKeeper = (isLimited = false) =>
  createDiskKeeper({
    organizations: { isLimited, record: async () => true },
    name: 'local',
    database,
    engine: measured,
    builder,
    clock: systemClock,
    log: silentLogger,
    budgetBytes: undefined,
    layerGiB: 10,
    failRun: async () => {},
    measureLogs: async () => ({ count: 0, bytes: 0 }),
  })
const measure = (): Promise<void> => newKeeper().reconcile(signal)

const must = async (method: string, at: string, sent?: object, dialect = 'full') => {
  const answer = await call(a.tokens.ADMIN, method, at, sent, { 'x-state-dialect': dialect })
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`)
  return Object(answer.body)
}
async function act(path: string, action: string, sent?: object): Promise<void> {
  await must('POST', `${path}/${action}`, sent)
  await until('it has ended', async () => (await must('GET', `${path}/status`)).deployment_request_id === null)
}
const runs = async (id: string): Promise<number> => {
  const seen = await engine.observe(id, signal)
  return seen.state === 'absent' ? 0 : seen.replicas.length
}
async function deployed(sizeGiB = 10) {
  const { applicationId: id } = await platform.addObjects(a)
  const path = `/application/${id}`
  const { storage } = await must('PUT', path, { storage: [{ mount_point: '/data', type: 'FAST_SSD', size: sizeGiB }] })
  await act(path, 'deploy', {})
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYED')
  return { id, path, storage, volume: String(storage[0].id) }
}

test('a volume far beyond its size stops its service until it is larger and deployed', async () => {
  const [full, other] = [await deployed(), await deployed()]
  taken.set(full.volume, 15.1).set(other.volume, 9)
  await measure()
  await until('its containers are ended', async () => (await runs(full.id)) === 0)
  const status = await must('GET', `${full.path}/status`)
  assert.equal(status.state, 'DEPLOYMENT_ERROR')
  assert.match(
    status.reason,
    /^It was stopped: its volume \/data takes 15\.1 GiB, and its size is 10 GiB\. .*deploy again/,
  )
  assert.equal((await must('GET', `${full.path}/status`, undefined, 'specification')).state, 'ERROR')
  await until('the running version is reported', async () => {
    const [row] = await database`select state, reason from observation where service_id = ${full.id}`
    return row?.['state'] === 'failing' && /15\.1 GiB/.test(String(row['reason']))
  })
  assert.deepEqual(
    [await runs(other.id), (await must('GET', `${other.path}/status`)).state],
    [1, 'DEPLOYED'],
    'another service runs',
  )
  const [change] = await database`
    select from state_change where type = 'service.state' and data::text like ${`%${full.id}%`}
      and data::text like '%DEPLOYMENT_ERROR%'`
  assert.ok(change, 'clients that follow states are notified')
  await measure()
  assert.equal(await runs(full.id), 0)
  await must('PUT', full.path, { storage: [{ ...full.storage[0], size: 20 }] })
  await act(full.path, 'deploy', {})
  assert.deepEqual([await runs(full.id), (await must('GET', `${full.path}/status`)).state], [1, 'DEPLOYED'])
  await measure()
  assert.deepEqual([await runs(full.id), (await must('GET', `${full.path}/status`)).reason], [1, null])
})

test('a volume slightly beyond its size stops its service at the second measurement, on any server', async () => {
  const { id, path, volume } = await deployed()
  taken.set(volume, 12)
  await measure()
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYED')
  taken.set(volume, 10.9)
  await measure()
  taken.set(volume, 12)
  await measure()
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYED', 'it was within the limit in between')
  await measure()
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYMENT_ERROR')
  await until('its containers are ended', async () => (await runs(id)) === 0)
})

test('a stopped service runs when it is deployed without its data, and its user can stop it', async () => {
  const { id, path, volume } = await deployed()
  taken.set(volume, 30)
  await measure()
  await until('its containers are ended', async () => (await runs(id)) === 0)
  await act(path, 'stop')
  const stopped = await must('GET', `${path}/status`)
  assert.deepEqual([stopped.state, stopped.reason], ['STOPPED', null])
  taken.set(volume, 1)
  await act(path, 'deploy', {})
  await measure()
  assert.deepEqual([await runs(id), (await must('GET', `${path}/status`)).state], [1, 'DEPLOYED'])
})

test('a failed deployment of a stopped service starts nothing and reports both reasons', async () => {
  const { id, path, volume } = await deployed()
  taken.set(volume, 30)
  await measure()
  await until('its containers are ended', async () => (await runs(id)) === 0)
  engine.start = async () => {
    throw new EngineError('crashed', 'it exited')
  }
  await act(path, 'deploy', {})
  Reflect.deleteProperty(engine, 'start')
  const { state, reason } = await must('GET', `${path}/status`)
  assert.match(state, /_ERROR$/)
  assert.match(reason, /it exited.*It was stopped: its volume/s)
  assert.equal(await runs(id), 0)
})

test('a stopped service is measured at once and stopped again when it is deployed with the same size', async () => {
  const { id, path, volume } = await deployed()
  const keeper = newKeeper()
  taken.set(volume, 30)
  await keeper.reconcile(signal)
  await until('its containers are ended', async () => (await runs(id)) === 0)
  await act(path, 'deploy', {})
  assert.equal(await runs(id), 1)
  await keeper.reconcile(signal)
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYMENT_ERROR')
})

test('a service is stopped by the next measurement when it is being deployed', async () => {
  const { id, path, volume } = await deployed()
  const keeper = newKeeper()
  const start = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  engine.start = async (release, attempt) => {
    begun.resolve()
    await start.promise
    return Object.getPrototypeOf(engine).start.call(engine, release, attempt)
  }
  await must('POST', `${path}/restart-service`)
  await begun.promise
  taken.set(volume, 30)
  await keeper.reconcile(signal)
  assert.equal((await must('GET', `${path}/status`)).state, 'RESTARTING')
  start.resolve()
  await until('it has ended', async () => (await must('GET', `${path}/status`)).deployment_request_id === null)
  Reflect.deleteProperty(engine, 'start')
  await keeper.reconcile(signal)
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYMENT_ERROR')
  await until('its containers are ended', async () => (await runs(id)) === 0)
})

test('a database is stopped when its data is far beyond its size', async () => {
  const databaseId = (await platform.addObjects(a)).more['databaseId'] ?? ''
  const path = `/database/${databaseId}`
  await act(path, 'deploy', {})
  taken.set(databaseId, 1000)
  await measure()
  const { state, reason } = await must('GET', `${path}/status`)
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /its volume of data takes 1000\.0 GiB/)
  await until('its container is ended', async () => (await runs(databaseId)) === 0)
})

test('a replica beyond ephemeral_storage_in_gib stops its service; a deployment empties the layer', async () => {
  const { id, path } = await deployed()
  const [row] = await database<{ release_id: string }[]>`select release_id from service where id = ${id}`
  layers.push({ service: id, release: row?.release_id ?? '', bytes: 3 * gibibyte })
  await measure()
  assert.equal((await must('GET', `${path}/status`)).state, 'DEPLOYED')
  await must('PUT', path, { ephemeral_storage_in_gib: 2 })
  await measure()
  const { state, reason } = await must('GET', `${path}/status`)
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /wrote 3\.0 GiB outside of its volumes, and its limit is 2 GiB/)
  await until('its containers are ended', async () => (await runs(id)) === 0)
  await act(path, 'deploy', {})
  await measure()
  assert.deepEqual([await runs(id), (await must('GET', `${path}/status`)).state], [1, 'DEPLOYED'])
})

test('a service that uses up the inodes is stopped only when they run short', async () => {
  const [full, other] = [await deployed(), await deployed()]
  const inodes = (freeInodes: number) => ({ totalBytes: 1e6, freeBytes: 5e5, totalInodes: 1000, freeInodes })
  taken.set(full.volume, 1)
  engine.written.set(full.volume, { bytes: 0, files: 101 })
  engine.written.set(other.volume, { bytes: 0, files: 90 })
  try {
    engine.space = inodes(100)
    await measure()
    assert.equal((await must('GET', `${full.path}/status`)).state, 'DEPLOYED')
    engine.space = inodes(99)
    const keeper = newKeeper()
    engine.reachable = false
    await keeper.reconcile(signal)
    engine.reachable = true
    assert.equal((await must('GET', `${full.path}/status`)).state, 'DEPLOYED', 'nobody could count')
    await keeper.reconcile(signal)
    const { state, reason } = await must('GET', `${full.path}/status`)
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason, /^It was stopped: .*more than 100 files and directories there.*deploy again/)
    await until('its containers are ended', async () => (await runs(full.id)) === 0)
    assert.deepEqual([await runs(other.id), (await must('GET', `${other.path}/status`)).state], [1, 'DEPLOYED'])
    engine.written.set(full.volume, { bytes: 0, files: 10 })
    await act(full.path, 'deploy', {})
    await measure()
    assert.deepEqual([await runs(full.id), (await must('GET', `${full.path}/status`)).state], [1, 'DEPLOYED'])
  } finally {
    engine.space = inodes(500)
    engine.reachable = true
  }
})

test('services of an organization that use up the inodes together are stopped, the largest first', async () => {
  const services: Awaited<ReturnType<typeof deployed>>[] = []
  engine.written.clear()
  for (let count = 0; count < 6; count++) services.push(await deployed())
  for (const [index, { volume }] of services.entries()) {
    taken.set(volume, 1)
    engine.written.set(volume, { bytes: 0, files: 86 + index })
  }
  const stoppedOnes = async (): Promise<number[]> => {
    const states = await Promise.all(services.map(({ path }) => must('GET', `${path}/status`)))
    return states.flatMap(({ state }, index) => (state === 'DEPLOYMENT_ERROR' ? [index] : []))
  }
  const space = (freeInodes: number) => ({ totalBytes: 1e6, freeBytes: 5e5, totalInodes: 1000, freeInodes })
  try {
    engine.space = space(99)
    await newKeeper(false).reconcile(signal)
    assert.deepEqual(await stoppedOnes(), [], 'organizations have no limit')
    await newKeeper(true).reconcile(signal)
    assert.deepEqual(await stoppedOnes(), [5])
    await newKeeper(true).reconcile(signal)
    assert.deepEqual(await stoppedOnes(), [5], 'the others have room')
  } finally {
    engine.space = space(500)
  }
})
