import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { type EngineDisk, EngineError, type FakeEngine } from '../engines/index.ts'
import { commit, git, newWorkTree } from '../git/git-server.fixture.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createDiskKeeper } from './keeper.ts'
import { createOrganizationDisk } from './organization-disk.ts'

/** The disk limit of an organization, as seen from the API. */
const limitGiB = 1000
const settings = { QUAYSIDE_ORGANIZATION_DISK: String(limitGiB) }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, b, call, engine, builder, database, gitHost } = platform
const signal = AbortSignal.timeout(180_000)
const gibibyte = 1024 ** 3
for (const tenant of [a, b]) await platform.addRepository(tenant)

/** Bytes by service; each has one volume. */
const volumes = new Map<string, number>()
const layers: { service: string; release: string; bytes: number }[] = []
const images: EngineDisk['images'][number][] = []
const taken = async (): Promise<EngineDisk> => ({
  ...(await Object.getPrototypeOf(engine).disk.call(engine, signal)),
  totalBytes: 10_000 * gibibyte,
  images,
  layers,
  volumes: [...volumes].map(([service, gib]) => ({ id: `volume-of-${service}`, service, bytes: gib * gibibyte })),
})
const measured: FakeEngine = Object.assign(Object.create(engine), { disk: taken })
// The server's own keeper never measures: the tests decide when to measure.
engine.disk = async () => {
  throw new EngineError('unreachable', 'only the tests measure')
}

/** A keeper of a newly started server. It knows only the database and measures at once. */
const measure = (): Promise<void> =>
  createDiskKeeper({
    name: 'local',
    database,
    engine: measured,
    builder,
    clock: systemClock,
    log: silentLogger,
    budgetBytes: undefined,
    layerGiB: 10_000,
    failRun: async () => {},
    measureLogs: async () => ({ count: 0, bytes: 0, byOwner: new Map() }),
    organizations: createOrganizationDisk({
      database,
      clock: systemClock,
      log: silentLogger,
      limitBytes: limitGiB * gibibyte,
      repositorySizes: (ending) => gitHost.sizes(ending),
      measureSoon: () => {},
    }),
  }).reconcile(signal)

const must = async (method: string, at: string, sent?: object, tenant = a) => {
  const answer = await call(tenant.tokens.ADMIN, method, at, sent, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.status} ${answer.text}`)
  return Object(answer.body)
}
const refused = async (method: string, at: string, sent: object, reason: RegExp) => {
  const answer = await call(a.tokens.ADMIN, method, at, sent)
  assert.equal(answer.status, 409, `${method} ${at}: ${answer.text}`)
  assert.match(answer.text, reason)
}
async function act(path: string, action: string, tenant = a): Promise<void> {
  await must('POST', `${path}/${action}`, {}, tenant)
  await until(
    'it has ended',
    async () => (await must('GET', `${path}/status`, undefined, tenant)).deployment_request_id === null,
  )
}
const stateOf = async (path: string, tenant = a) => (await must('GET', `${path}/status`, undefined, tenant)).state
const runs = async (id: string): Promise<number> => {
  const seen = await engine.observe(id, signal)
  return seen.state === 'absent' ? 0 : seen.replicas.length
}
async function deployed(tenant = a) {
  const { applicationId: id, environmentId } = await platform.addObjects(tenant)
  const path = `/application/${id}`
  await act(path, 'deploy', tenant)
  assert.equal(await stateOf(path, tenant), 'DEPLOYED')
  return { id, path, environmentId }
}
const usage = async (tenant = a) => {
  const clusters = await must('GET', `/organization/${tenant.organizationId}/cluster`, undefined, tenant)
  const at = `/organization/${tenant.organizationId}/cluster/${clusters.results[0].id}/diskUsage`
  return (await must('GET', at, undefined, tenant)).organization
}
const partsOf = ({ parts }: { parts: { name: string; bytes: number }[] }) =>
  Object.fromEntries(parts.map(({ name, bytes }) => [name, bytes]))

beforeEach(async () => {
  volumes.clear()
  layers.length = 0
  images.length = 0
  await measure()
})
const over = /takes 1\d\d\d\.\d GiB of the disk \(.*volumes 1\d\d\d\.\d.*and its limit is 1000\.0 GiB\. Delete /

test('an organization sees only its own disk use', async () => {
  const [own, other] = [await deployed(), await deployed(b)]
  const image = (bytes: number, ...services: string[]) => ({ references: [], services, bytes, createdAt: new Date() })
  volumes.set(own.id, 20).set(other.id, 30)
  layers.push({ service: own.id, release: 'any', bytes: 5 * gibibyte })
  images.push(image(gibibyte, own.id, other.id), image(2 * gibibyte, other.id))
  await measure()
  const [ofA, ofB] = [await usage(), await usage(b)]
  const { REPOSITORIES: repositories = 0, BACKUPS: backups = 0, ...rest } = partsOf(ofA)
  assert.deepEqual(rest, { VOLUMES: 20 * gibibyte, LAYERS: 5 * gibibyte, IMAGES: gibibyte, LOGS: 0 })
  assert.ok(repositories > 0 && backups > 0, 'its repository and its backup count')
  assert.equal(ofA.bytes, 26 * gibibyte + repositories + backups)
  assert.ok(ofA.claimed_bytes > ofA.bytes, 'declared sizes count')
  assert.equal(ofA.limit_bytes, limitGiB * gibibyte)
  assert.deepEqual([partsOf(ofB)['VOLUMES'], partsOf(ofB)['IMAGES']], [30 * gibibyte, 3 * gibibyte])
})

test('declared sizes beyond the limit are rejected, even in concurrent requests', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const before = await usage()
  const room = Math.floor((before.limit_bytes - before.claimed_bytes) / gibibyte)
  const storage = (size: number) => ({ storage: [{ mount_point: '/data', type: 'FAST_SSD', size }] })
  const tooMuch =
    /"storage: with this size the organization could take 1000\.\d GiB .*limit is 1000\.0 GiB\. .*smaller size/
  await refused('PUT', path, storage(room + 1), tooMuch)
  await must('PUT', path, storage(5))
  const size = Math.floor((room - 5) / 5)
  const wanted = (name: string) => ({ name, type: 'POSTGRESQL', version: '15', mode: 'CONTAINER', storage: size })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/database`, wanted(`at-once-${index}`)),
    ),
  )
  const made = answers.filter(({ status }) => status === 201).map(({ body }) => Object(body))
  assert.deepEqual([made.length, answers.filter(({ status }) => status === 409).length], [5, 7])
  assert.ok((await usage()).claimed_bytes <= before.limit_bytes)
  await refused('POST', `${path}/clone`, { name: 'copy', environment_id: environmentId }, tooMuch)
  await refused('PUT', `/database/${made[0].id}`, { storage: size + 5 }, tooMuch)
  await must('PUT', `/database/${made[0].id}`, { cpu: 250, description: 'no larger' })
  for (const { id } of made) await must('DELETE', `/database/${id}`)
  await until('they are deleted', async () => (await usage()).claimed_bytes <= before.claimed_bytes + 5 * gibibyte)
})

test('an organization beyond its limit is denied only what would take more space', async () => {
  const [full, second] = [await deployed(), await deployed()]
  const databaseId = (await platform.addObjects(a)).more['databaseId'] ?? ''
  await act(`/database/${databaseId}`, 'deploy')
  volumes.set(full.id, 1050)
  await measure()
  assert.equal((await usage()).bytes > limitGiB * gibibyte, true)
  await refused('POST', `/database/${databaseId}/backup`, {}, over)
  const storage = [{ mount_point: '/data', type: 'FAST_SSD', size: 1 }]
  await refused('PUT', second.path, { storage }, /could take .*its limit is 1000\.0 GiB/)
  await platform.addRepository(a, 'another version')
  await act(second.path, 'deploy')
  const { state, reason } = await must('GET', `${second.path}/status`)
  assert.equal(state, 'BUILD_ERROR')
  assert.match(reason, over)
  const { results } = await must('GET', `/environment/${second.environmentId}/deploymentHistoryV2`)
  assert.match(JSON.stringify(results[0]), /BUILD_ERROR/)
  assert.equal(await runs(second.id), 1, 'the previous version runs')
  await act(second.path, 'restart-service')
  await act(second.path, 'stop')
  assert.equal(await stateOf(second.path), 'STOPPED')
  const neighbour = await deployed(b)
  assert.equal(await runs(neighbour.id), 1, 'another organization builds')
  await must('DELETE', full.path)
  await until('it is deleted', async () => (await usage()).bytes < limitGiB * gibibyte)
  await act(second.path, 'deploy')
  assert.equal(await stateOf(second.path), 'DEPLOYED')
  await must('POST', `/database/${databaseId}/backup`, {})
})

test('an image is not fetched when its organization is beyond its limit', async () => {
  const { id } = await deployed()
  const { containerId = '' } = (await platform.addObjects(a)).more
  volumes.set(id, 1050)
  await measure()
  await must('POST', `/container/${containerId}/deploy`, { image_tag: 'never-seen' })
  await until('it has failed', async () => /_ERROR$/.test(await stateOf(`/container/${containerId}`)))
  assert.match((await must('GET', `/container/${containerId}/status`)).reason, over)
  assert.ok(!engine.images.references().some((one) => one.includes('never-seen')))
})

test('a push is rejected when its organization is beyond its limit; branches can be deleted', async (t) => {
  const { id } = await deployed()
  const origin = new URL(await platform.listen())
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  const urlOf = (tenant: typeof a) => `http://any:${tenant.tokens.ADMIN}@${origin.host}/git/pushed.git`
  await git(work, 'push', '--quiet', urlOf(a), 'main', 'main:other')
  volumes.set(id, 1050)
  await measure()
  await commit(work, { 'b.txt': 'two' })
  await assert.rejects(git(work, 'push', urlOf(a), 'main'), over)
  await git(work, 'push', '--quiet', urlOf(a), ':other')
  await git(work, 'push', '--quiet', urlOf(b), 'main')
})

test('only a growing service is stopped at once when its organization is far beyond the limit', async () => {
  const [growing, still] = [await deployed(), await deployed()]
  const neighbour = await deployed(b)
  volumes.set(growing.id, 500).set(still.id, 400).set(neighbour.id, 600)
  await measure()
  volumes.set(growing.id, 1120).set(neighbour.id, 950)
  await measure()
  const { state, reason } = await must('GET', `${growing.path}/status`)
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(
    reason,
    /^It was stopped: its organization takes 15\d\d\.\d GiB .*limit is 1000\.0 GiB, and this service grew by 620\.0 GiB/,
  )
  await until('its containers are ended', async () => (await runs(growing.id)) === 0)
  assert.deepEqual([await runs(still.id), await runs(neighbour.id)], [1, 1])
  // Nothing needs to be built. The service runs again and is found without room again.
  await act(growing.path, 'restart-service')
  assert.equal(await runs(growing.id), 1)
  await measure()
  assert.equal(await stateOf(growing.path), 'DEPLOYMENT_ERROR')
  await until('its containers are ended', async () => (await runs(growing.id)) === 0)
  volumes.set(growing.id, 100)
  await act(growing.path, 'restart-service')
  await measure()
  await measure()
  assert.equal(await runs(growing.id), 1, 'it has room')
})

test('a growing service is stopped at the second measurement when its organization is beyond 110 %', async () => {
  const [growing, still] = [await deployed(), await deployed()]
  volumes.set(growing.id, 500).set(still.id, 400)
  await measure()
  volumes.set(growing.id, 600).set(still.id, 600)
  await measure()
  assert.deepEqual([await runs(growing.id), await runs(still.id)], [1, 1], 'it may be for a moment')
  volumes.set(growing.id, 600.5)
  await measure()
  await until('its containers are ended', async () => (await runs(growing.id)) === 0)
  assert.equal(await stateOf(growing.path), 'DEPLOYMENT_ERROR')
  assert.deepEqual([await runs(still.id), await stateOf(still.path)], [1, 'DEPLOYED'], 'it did not grow since')
})

test('temporary copies of a backup stop no service', async () => {
  const { id, path } = await deployed()
  const databaseId = (await platform.addObjects(a)).more['databaseId'] ?? ''
  const backup = newId()
  await database`
    insert into backup (id, service_id, created_at, updated_at, name, state)
    values (${backup}, ${databaseId}, now(), now(), 'in progress', 'RUNNING')`
  volumes.set(id, 900)
  await measure()
  volumes.set(id, 901).set(backup, 900)
  await measure()
  await measure()
  assert.equal(partsOf(await usage())['VOLUMES'], 1801 * gibibyte)
  assert.deepEqual([await stateOf(path), await runs(id)], ['DEPLOYED', 1])
  await database`delete from backup where id = ${backup}`
})

test('a copy of an environment fails with the reason and leaves nothing when it declares too much', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  const { bytes, claimed_bytes, limit_bytes } = await usage()
  assert.ok(bytes < claimed_bytes)
  const size = Math.floor((limit_bytes - claimed_bytes) / gibibyte) - 5
  const storage = [{ mount_point: '/data', type: 'FAST_SSD', size }]
  await must('PUT', `/application/${applicationId}`, { storage })
  await refused('POST', `/environment/${environmentId}/clone`, { name: 'with data', with_data: true }, /could take/)
  const { id } = await must('POST', `/environment/${environmentId}/clone`, { name: 'without data' })
  await until('the copy is gone', async () => (await call(a.tokens.ADMIN, 'GET', `/environment/${id}`)).status === 404)
  const [copy] = await database<{ status: string; reason: string }[]>`
    select status, reason from copy_record where environment_id = ${id} and service_id is null`
  assert.equal(copy?.status, 'ERROR')
  assert.match(copy?.reason ?? '', /could take 1\d\d\d\.\d GiB .*limit is 1000\.0 GiB/)
  await must('PUT', `/application/${applicationId}`, { storage: [] })
})
