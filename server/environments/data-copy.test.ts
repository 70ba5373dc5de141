import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'
import { Secret } from '../lib/secret.ts'

/** Copies with data, through the API and on the fake engine. Its volumes hold strings. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform
const { volumes } = engine

const send = (method: string, path: string, body?: unknown) => call(a.tokens.ADMIN, method, path, body)
const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await send(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
const atRest = (environmentId: string) =>
  until('nothing is in progress', async () => {
    const rows = await database`
      select from deployment_request where environment_id = ${environmentId} and finished_at is null`
    return rows.length === 0
  })
const isWhole = (table: 'environment' | 'service', id: string) =>
  until('the copy is whole', async () => {
    const rows = await database`select from ${database(table)} where id = ${id} and copying is null`
    return rows.length === 1
  })
const isGone = (table: 'environment' | 'service', id: string) =>
  until('the copy is gone', async () => (await database`select from ${database(table)} where id = ${id}`).length === 0)
const named = async (environmentId: string, kind: string, name: string) => {
  const { results } = await ask('GET', `/environment/${environmentId}/${kind}`)
  return Object(results.find((one: { name: string }) => one.name === name))
}
const storageOf = (service: { storage: { id: string }[] }): string => service.storage[0]?.id ?? ''

let environment: string
let [app, store] = ['', '']
let [appVolume, asked] = ['', 0]
const storage = [{ mount_point: '/data', size: 4, type: 'FAST_SSD' }]

await platform.addRepository(a)
beforeEach(async () => {
  volumes.onCopy = async () => {}
  const { id } = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `data ${++asked}` })
  environment = id
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  const web = await ask('POST', `/environment/${id}/application`, { name: 'web', git_repository, storage })
  const base = await ask('POST', `/environment/${id}/database`, {
    name: 'store',
    type: 'POSTGRESQL',
    version: '15',
    mode: 'CONTAINER',
  })
  ;[app, store, appVolume] = [web.id, base.id, storageOf(web)]
  await ask('POST', `/environment/${id}/deploy`)
  await atRest(id)
  volumes.write(appVolume, 'files')
  volumes.write(store, 'rows')
})
const clone = (body: object) => ask('POST', `/environment/${environment}/clone`, { name: `copy ${++asked}`, ...body })

test('a copy has the contents of all volumes, is independent of its source and does not run', async () => {
  const { id } = await clone({ with_data: true })
  await isWhole('environment', id)
  const [web, base] = [await named(id, 'application', 'web'), await named(id, 'database', 'store')]
  assert.deepEqual([volumes.read(storageOf(web)), volumes.read(base.id)], ['files', 'rows'])
  volumes.write(appVolume, 'later files')
  assert.equal(volumes.read(storageOf(web)), 'files')
  const states = await database<{ state: string }[]>`select distinct state from service where environment_id = ${id}`
  assert.deepEqual(
    states.map(({ state }) => state),
    ['READY'],
  )
  const seen = await engine.observeAll(AbortSignal.timeout(60_000))
  assert.deepEqual([seen.has(web.id), seen.has(base.id), seen.has(app)], [false, false, true])
  await ask('POST', `/environment/${id}/deploy`)
  await atRest(id)
  assert.equal((await ask('GET', `/application/${web.id}/status`)).service_deployment_status, 'UP_TO_DATE')
  assert.equal(volumes.read(storageOf(web)), 'files')
})

test('a copy has volumes and databases as of one moment when they are written meanwhile', async () => {
  volumes.onCopy = async () => {
    volumes.write(appVolume, 'files of later')
    volumes.write(store, 'rows of later')
  }
  const { id } = await clone({ with_data: true })
  await isWhole('environment', id)
  const [web, base] = [await named(id, 'application', 'web'), await named(id, 'database', 'store')]
  assert.deepEqual([volumes.read(storageOf(web)), volumes.read(base.id)], ['files', 'rows'])
})

test('a copy is empty without with_data', async () => {
  const { id } = await clone({})
  await isWhole('environment', id)
  assert.equal(volumes.has(storageOf(await named(id, 'application', 'web'))), false)
})

test('a copied database gets its own password at its first deployment and drops the previous one', async () => {
  const { id } = await clone({ with_data: true })
  await isWhole('environment', id)
  const copy = (await named(id, 'database', 'store')).id
  const passwordOf = async (database: string) => (await ask('GET', `/database/${database}/masterCredentials`)).password
  const [former, own] = [await passwordOf(store), await passwordOf(copy)]
  assert.notEqual(former, own)
  const seen: unknown[] = []
  const start = engine.start.bind(engine)
  engine.start = (release, attempt) => {
    const { POSTGRES_PASSWORD, QUAYSIDE_FORMER_PASSWORD: other } = release.workload.variables
    const text = (value: string | Secret | undefined) => (value instanceof Secret ? value.reveal() : value)
    if (release.service === copy) seen.push([text(POSTGRES_PASSWORD), text(other)])
    return start(release, attempt)
  }
  for (let times = 0; times < 2; times++) {
    await ask('POST', `/database/${copy}/deploy`, {})
    await atRest(id)
  }
  engine.start = start
  assert.deepEqual(seen, [
    [own, former],
    [own, undefined],
  ])
})

/** The copy in the API's list. */
const told = async (id: string) => {
  const { results } = await ask('GET', `/organization/${a.organizationId}/copy`)
  return Object(results.find((one: { id: string }) => one.id === id))
}

/** Holds the first volume that is copied. Returns a function that releases it. */
function holdCopy(): { held: Promise<void>; goOn: () => void; fail: (error: Error) => void } {
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  volumes.onCopy = async () => {
    held.resolve()
    await gate.promise
  }
  return { held: held.promise, goOn: () => gate.resolve(), fail: (error) => gate.reject(error) }
}

test('an unfinished copy cannot be copied, and the list of copies reports its progress', async () => {
  const copying = holdCopy()
  const { id } = await clone({ with_data: true })
  await copying.held
  const web = await named(id, 'application', 'web')
  const answer = await send('POST', `/application/${web.id}/clone`, { name: 'x', environment_id: environment })
  assert.deepEqual([answer.status, /copy is still in progress/.test(answer.text)], [409, true], answer.text)
  assert.deepEqual([(await told(id)).status, (await told(id)).with_data], ['ONGOING', true])
  copying.goOn()
  await isWhole('environment', id)
  const { status, copied_bytes, finished_at } = await told(id)
  assert.deepEqual([status, copied_bytes, finished_at !== null], ['SUCCESS', 'filesrows'.length, true])
})

test('a copy leaves no volume when it is deleted before it is complete', async () => {
  const copying = holdCopy()
  const { id } = await clone({ with_data: true })
  await copying.held
  const web = await named(id, 'application', 'web')
  assert.equal((await send('DELETE', `/environment/${id}`)).status, 204)
  copying.goOn()
  await until('its volumes are gone', async () => {
    const [row] = await database`select state from workflow where kind = 'environment copy' and key = ${id}`
    return row?.['state'] === 'done'
  })
  assert.equal(volumes.has(storageOf(web)), false)
  assert.equal((await told(id)).status, 'CANCELED')
})

test('a copy is removed and its reason is recorded when its data cannot be copied', async () => {
  const copying = holdCopy()
  const { id } = await clone({ with_data: true })
  await copying.held
  const web = await named(id, 'application', 'web')
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await isGone('environment', id)
  await until('its volumes are gone', () => !volumes.has(storageOf(web)))
  const { status, reason } = await told(id)
  assert.deepEqual([status, /no space left on the device/.test(reason)], ['ERROR', true], reason)
  const { events } = await ask('GET', `/organization/${a.organizationId}/events?targetId=${id}&pageSize=50`)
  const recorded = events.find((event: { event_type: string }) => event.event_type === 'DELETE')
  assert.match(recorded.change, /no space left on the device/)
})

test('a service is copied with data into another environment while that one is deployed', async () => {
  const copying = holdCopy()
  const other = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `data ${++asked}` })
  const type = { type: 'POSTGRESQL', version: '15', mode: 'CONTAINER' }
  await ask('POST', `/environment/${other.id}/database`, { name: 'store', ...type })
  const copy = await ask('POST', `/application/${app}/clone`, {
    name: 'second',
    environment_id: other.id,
    with_data: true,
  })
  await copying.held
  await ask('POST', `/environment/${other.id}/deploy`)
  await atRest(other.id)
  copying.goOn()
  await isWhole('service', copy.id)
  assert.equal((await ask('GET', `/application/${copy.id}/status`)).state, 'READY')
  assert.equal(volumes.read(storageOf(copy)), 'files')
})

test('a copy of a service is removed with the reason when it fails', async () => {
  const copying = holdCopy()
  const copy = await ask('POST', `/database/${store}/clone`, {
    name: 'second',
    environment_id: environment,
    with_data: true,
  })
  await copying.held
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await isGone('service', copy.id)
  await until('its volume is gone', () => !volumes.has(copy.id))
  const events = await database<{ change: string }[]>`
    select change from audit_event where target_id = ${copy.id} and event_type = 'DELETE'`
  assert.match(events[0]?.change ?? '', /no space left on the device/)
  const { status, service_id, reason } = await told(copy.id)
  assert.deepEqual([status, service_id], ['ERROR', copy.id])
  assert.match(reason, /no space left on the device/)
})
