import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until as untilLate } from '../../test/support/until.ts'
import { EngineError, type FakeEngine } from '../engines/index.ts'
import { createFileEraser } from './index.ts'

/** Backups through the API, on the fake engine, whose volumes contain texts. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, directory, engine } = platform
const { volumes } = engine
const until = (what: string, ask: () => Promise<boolean>) => untilLate(what, ask, { limitMs: 20_000 })

const send = (method: string, path: string, body?: unknown) => call(a.tokens.ADMIN, method, path, body)
const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await send(method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
const refused = async (method: string, path: string, reason: RegExp, body: unknown = {}) => {
  const answer = await send(method, path, body)
  assert.equal(answer.status, 409, `${method} ${path}: ${answer.text}`)
  assert.match(answer.text, reason)
}
const atRest = () =>
  until('no operation is in progress', async () => {
    const rows = await database`
      select from deployment_request where environment_id = ${environment} and finished_at is null`
    return rows.length === 0
  })

let asked = 0
let [environment, store, path] = ['', '', '']

await platform.addRepository(a)
beforeEach(async () => {
  volumes.onCopy = async () => {}
  const { id } = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `backups ${++asked}` })
  environment = id
  const wanted = { name: 'store', type: 'POSTGRESQL', version: '15', mode: asked % 2 ? 'CONTAINER' : 'MANAGED' }
  store = (await ask('POST', `/environment/${id}/database`, wanted)).id
  path = `/database/${store}`
  await ask('POST', `/environment/${id}/deploy`)
  await atRest()
  volumes.write(store, 'rows')
})

const told = async (id: string, at = path) => {
  const { results } = await ask('GET', `${at}/backup`)
  return Object(results.find((one: { id: string }) => one.id === id))
}
const isMade = (id: string, at = path) =>
  until('the backup has ended', async () => /SUCCEEDED|FAILED/.test((await told(id, at)).status.state))
const isJudged = (id: string, at = path) =>
  until('its proof has ended', async () => /PROVEN|FAILED/.test((await told(id, at)).proof.state))
const isRestored = (id: string, at = path) =>
  until('its restore has ended', async () => /SUCCEEDED|FAILED/.test((await told(id, at)).restore.state))
/** Makes a new backup and waits until its proof has ended. */
const backUp = async (at = path) => {
  const { id } = await ask('POST', `${at}/backup`, {})
  await isMade(id, at)
  if ((await told(id, at)).status.state === 'SUCCEEDED') await isJudged(id, at)
  return told(id, at)
}
const restore = async (id: string, at = path) => {
  await ask('POST', `${at}/backup/${id}/restore`)
  await isRestored(id, at)
  return (await told(id, at)).restore
}
const filesOf = (service: string) =>
  readdir(join(directory, 'backups', a.organizationId, service)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
const fileOf = (id: string) => join(directory, 'backups', a.organizationId, store, `${id}-1.qsb`)
/** Backups and proofs use ids on the engine that belong to no service and to no storage. */
const isTidy = () =>
  until('nothing is left of it on the engine', async () => {
    const ids = await database<{ id: string }[]>`
      select id::text from service union all select jsonb_path_query(settings, '$.storage[*].id') #>> '{}' from service`
    const known = new Set(ids.map(({ id }) => id))
    const seen = await engine.observeAll(AbortSignal.timeout(60_000))
    return [...volumes.ids(), ...seen.keys()].every((id) => known.has(id))
  })

/** Blocks the first volume that is copied; returns how to continue it. */
function holdCopy(): { held: Promise<void>; goOn: () => void; fail: (error: Error) => void } {
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  volumes.onCopy = async () => {
    held.resolve()
    await gate.promise
  }
  return { held: held.promise, goOn: () => gate.resolve(), fail: (error) => gate.reject(error) }
}

/** Replaces a function of the engine until the end of the test. */
function disturb(t: { after: (work: () => void) => void }, by: (real: FakeEngine) => Partial<FakeEngine>): void {
  const { start, writeVolume } = engine
  const real = Object.assign(Object.create(engine), {
    start: start.bind(engine),
    writeVolume: writeVolume.bind(engine),
  })
  Object.assign(engine, by(real))
  t.after(() => Object.assign(engine, { start, writeVolume }))
}

test('a backup is a file with its own key, and a database that becomes healthy on it proves it at once', async () => {
  const { id, status, name } = await ask('POST', `${path}/backup`, { name: 'by hand', message: 'before the change' })
  assert.deepEqual([status, name], [{ state: 'QUEUED', message: null }, 'by hand'])
  await isMade(id)
  await isJudged(id)
  const made = await told(id)
  assert.deepEqual([made.status.state, made.proof.state], ['SUCCEEDED', 'PROVEN'], JSON.stringify(made))
  assert.match(made.proof.message, /compared, and the database became healthy/)
  assert.ok(made.size_in_bytes > 0 && made.entries > 0)
  assert.equal((await ask('GET', `${path}/backup`)).last_proven_restore_at, made.proof.at)
  assert.equal((await readFile(fileOf(id))).includes('rows'), false)
  await isTidy()
})

test('a backup that is longer than its storage, as earlier versions made them, is not restored to it', async () => {
  const { id } = await backUp()
  await database`update backup_file set archive_bytes = ${2 ** 40} where backup_id = ${id}`
  await refused(
    'POST',
    `${path}/backup/${id}/restore`,
    /has 1024\.0 GiB for .* fit into the storage of \d+ GiB .* larger/,
  )
  assert.equal(volumes.read(store), 'rows')
  assert.equal((await told(id)).restore.state, 'NONE')
})

test('a restore brings back the rows, restarts the service and backs up the previous data', async () => {
  const { id, name } = await backUp()
  volumes.write(store, 'later rows')
  const { state, message } = await restore(id)
  assert.deepEqual([state, message], ['SUCCEEDED', 'Its volumes are those of the backup.'])
  assert.equal(volumes.read(store), 'rows')
  await atRest()
  assert.equal((await ask('GET', `${path}/status`)).state, 'DEPLOYED')
  const { results } = await ask('GET', `${path}/backup`)
  const before = results.find((one: { name: string }) => one.name === `before restoring ${name}`)
  await isJudged(before.id)
  assert.equal((await restore(before.id)).state, 'SUCCEEDED')
  assert.equal(volumes.read(store), 'later rows')
  const events = await database<{ change: string }[]>`
    select change from audit_event where target_id = ${store} and triggered_by = 'restore'
    and event_type = 'MAINTENANCE' order by created_at`
  assert.deepEqual(
    events.map(({ change }) => JSON.parse(change).restore.status),
    ['SUCCEEDED', 'SUCCEEDED'],
  )
  await isTidy()
})

test('a changed file fails the proof and the restore before anything is stopped', async () => {
  const { id } = await backUp()
  volumes.write(store, 'later rows')
  const bytes = await readFile(fileOf(id))
  await writeFile(fileOf(id), bytes.fill(bytes[bytes.length - 20] === 1 ? 2 : 1, bytes.length - 20, bytes.length - 19))
  await ask('POST', `${path}/backup/${id}/prove`)
  await isJudged(id)
  const { proof } = await told(id)
  assert.equal(proof.state, 'FAILED')
  assert.equal((await ask('GET', `${path}/backup`)).last_proven_restore_at, null)
  const { state, message } = await restore(id)
  assert.deepEqual([state, /Its data were not touched/.test(message)], ['FAILED', true], message)
  assert.equal(volumes.read(store), 'later rows')
  const stops = await database`
    select from deployment_request where environment_id = ${environment} and action = 'STOP'`
  assert.equal(stops.length, 0)
  await isTidy()
})

test('backups are proven one at a time', async (t) => {
  const wanted = { name: 'other', type: 'POSTGRESQL', version: '15', mode: 'CONTAINER' }
  const other = `/database/${(await ask('POST', `/environment/${environment}/database`, wanted)).id}`
  await ask('POST', `${other}/deploy`, {})
  await atRest()
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const tried = new Set<string>()
  disturb(t, ({ writeVolume }) => ({
    writeVolume: async (volume, owner, ...given) => {
      tried.add(owner.service)
      begun.resolve()
      await gate.promise
      return writeVolume(volume, owner, ...given)
    },
  }))
  const first = await ask('POST', `${path}/backup`, {})
  await begun.promise
  const second = await ask('POST', `${other}/backup`, {})
  await isMade(second.id, other)
  assert.equal((await told(second.id, other)).proof.state, 'RUNNING')
  await refused('POST', `${other}/backup/${second.id}/prove`, /being proven/)
  assert.equal(tried.size, 1)
  gate.resolve()
  await Promise.all([isJudged(first.id), isJudged(second.id, other)])
  assert.equal(tried.size, 2)
})

test('a proof starts a separate replica on the restored volume, not the one that serves', async (t) => {
  const tried: { readonly release: string; readonly replicas: number; readonly volumes: readonly string[] }[] = []
  disturb(t, ({ start }) => ({
    start: async (release, attempt) => {
      const endpoints = await start(release, attempt)
      const seen = await engine.observe(release.service, AbortSignal.timeout(60_000))
      const replicas = seen.state === 'absent' ? 0 : seen.replicas.length
      const { workload } = release
      const mounted = workload.shape === 'long-running' ? workload.storage.map(({ id }) => id) : []
      tried.push({ release: release.id, replicas, volumes: mounted })
      return endpoints
    },
  }))
  await backUp()
  const [serving] = await database<{ id: string }[]>`select release_id::text as id from service where id = ${store}`
  const [one, ...more] = tried
  assert.deepEqual([one?.replicas, one?.volumes.length, more], [1, 1, []])
  assert.ok(serving?.id && one?.release !== serving.id, 'it has the id of the version that serves')
  assert.notEqual(one?.volumes[0], store)
})

test('the proof fails when the database does not become healthy on the restored data', async (t) => {
  disturb(t, ({ start }) => ({
    start: async (release, attempt) => {
      if (release.service !== store) throw new EngineError('not-ready', 'it reads a page that is broken')
      return start(release, attempt)
    },
  }))
  const { status, proof } = await backUp()
  assert.deepEqual([status.state, proof.state], ['SUCCEEDED', 'FAILED'])
  assert.match(proof.message, /a page that is broken/)
  await isTidy()
})

test('a backup fails with the reason and leaves nothing when a volume cannot be copied', async () => {
  const copying = holdCopy()
  const { id } = await ask('POST', `${path}/backup`, {})
  await copying.held
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await isMade(id)
  const { status, proof } = await told(id)
  assert.deepEqual([status.state, status.message, proof.state], ['FAILED', 'no space left on the device', 'NONE'])
  await refused('POST', `${path}/backup/${id}/restore`, /is FAILED/)
  await isTidy()
  assert.deepEqual(await filesOf(store), [])
  assert.deepEqual([...(await database`select from backup_file where backup_id = ${id}`)], [])
})

test('other operations wait or are refused while a backup is made, proven or restored', async () => {
  const { id } = await backUp()
  const copying = holdCopy()
  const second = await ask('POST', `${path}/backup`, {})
  await copying.held
  await refused('POST', `${path}/backup`, /is being backed up already/)
  await refused('DELETE', `${path}/backup/${second.id}`, /being made/)
  await refused('POST', `${path}/backup/${second.id}/prove`, /being made/)
  await refused('POST', `${path}/backup/${second.id}/restore`, /is RUNNING/)
  await ask('POST', `${path}/backup/${id}/restore`)
  await refused('POST', `${path}/deploy`, /restore from a backup is in progress/)
  await refused('POST', `${path}/stop`, /restore from a backup is in progress/)
  await refused('PUT', path, /restore from a backup is in progress/, { cpu: 300 })
  await refused('POST', `${path}/backup`, /restore from a backup is in progress/)
  await refused('DELETE', path, /being restored/)
  await refused('DELETE', `/environment/${environment}`, /being restored/)
  await refused('POST', `/environment/${environment}/clone`, /copied or restored/, { name: 'copy', with_data: true })
  await refused('DELETE', `${path}/backup/${id}`, /being restored/)
  copying.goOn()
  await isRestored(id)
  assert.equal((await told(id)).restore.state, 'SUCCEEDED')
  await isJudged(second.id)
})

test('a restore is refused while a copy or a deployment is in progress', async () => {
  const { id } = await backUp()
  const copying = holdCopy()
  const copy = await ask('POST', `/environment/${environment}/clone`, { name: `copy ${asked}`, with_data: true })
  await copying.held
  await refused('POST', `${path}/backup/${id}/restore`, /restored or copied/)
  copying.goOn()
  await until('the copy is whole', async () => {
    const rows = await database`select from environment where id = ${copy.id} and copying is null`
    return rows.length === 1
  })
  await database`update service set state = 'DEPLOYING' where id = ${store}`
  await refused('POST', `${path}/backup/${id}/restore`, /is DEPLOYING/)
})

test('a backup is refused when the service was never deployed, has no storage or is uninstalled', async () => {
  const wanted = { name: 'other', type: 'REDIS', version: '7', mode: 'CONTAINER' }
  const other = await ask('POST', `/environment/${environment}/database`, wanted)
  await refused('POST', `/database/${other.id}/backup`, /was never deployed/)
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  const web = await ask('POST', `/environment/${environment}/application`, { name: 'web', git_repository })
  await refused('POST', `/application/${web.id}/backup`, /has no storage/)
  const { id } = await backUp()
  await ask('POST', `${path}/uninstall`)
  await atRest()
  await refused('POST', `${path}/backup`, /is uninstalled/)
  assert.equal((await restore(id)).state, 'SUCCEEDED')
  assert.equal(volumes.read(store), 'rows')
  const [row] = await database`select state, data_version from service where id = ${store}`
  assert.deepEqual(row, { state: 'DELETED', data_version: '15' })
})

test('a restore that cannot write rolls back to the previous data and restarts the service', async (t) => {
  const { id } = await backUp()
  volumes.write(store, 'later rows')
  let failures = 1
  disturb(t, ({ writeVolume }) => ({
    writeVolume: async (volume, ...given) => {
      if (volume !== store || failures-- <= 0) return writeVolume(volume, ...given)
      volumes.remove(volume)
      throw new EngineError('refused', 'no space left on the device')
    },
  }))
  const { state, message } = await restore(id)
  assert.deepEqual([state, message], ['FAILED', 'no space left on the device What was there before was written back.'])
  assert.equal(volumes.read(store), 'later rows')
  await atRest()
  assert.equal((await ask('GET', `${path}/status`)).state, 'DEPLOYED')
})

test('a restore keeps the current data when they cannot be backed up first', async () => {
  const { id } = await backUp()
  volumes.write(store, 'later rows')
  volumes.onCopy = async () => {
    throw new EngineError('refused', 'no space left on the device')
  }
  const { state, message } = await restore(id)
  assert.equal(state, 'FAILED')
  assert.match(message, /could not be backed up first: no space left.* Its data were not touched/)
  assert.equal(volumes.read(store), 'later rows')
  await atRest()
  assert.equal((await ask('GET', `${path}/status`)).state, 'DEPLOYED')
  const { results } = await ask('GET', `${path}/backup`)
  assert.deepEqual([results[0].status.state, results[0].proof.state], ['FAILED', 'NONE'])
  await isTidy()
})

test('volumes of an application are restored by where they are mounted', async () => {
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  const storage = ['/data', '/cache'].map((mount_point) => ({ mount_point, size: 4, type: 'FAST_SSD' }))
  const web = await ask('POST', `/environment/${environment}/application`, { name: 'web', git_repository, storage })
  const at = `/application/${web.id}`
  await ask('POST', `${at}/deploy`, {})
  await atRest()
  const idOf = (mount: string) => web.storage.find((one: { mount_point: string }) => one.mount_point === mount).id
  volumes.write(idOf('/data'), 'files')
  volumes.write(idOf('/cache'), 'more files')
  const { id, proof } = await backUp(at)
  assert.deepEqual(proof.message, 'Every file of it was restored on the side and compared.')
  volumes.write(idOf('/data'), 'later files')
  volumes.write(idOf('/cache'), 'more later files')
  assert.equal((await restore(id, at)).state, 'SUCCEEDED')
  assert.deepEqual([volumes.read(idOf('/data')), volumes.read(idOf('/cache'))], ['files', 'more files'])
})

test('the timetable makes one backup and removes surplus backups', async () => {
  const first = await backUp()
  const { cron_at, timezone, keep, next_at } = await ask('GET', `${path}/backupPolicy`)
  assert.deepEqual([cron_at, timezone, keep, next_at], [null, 'Etc/UTC', 7, null])
  assert.equal((await send('PUT', `${path}/backupPolicy`, { cron_at: '0 3 * *' })).status, 400)
  assert.equal((await send('PUT', `${path}/backupPolicy`, { cron_at: '0 3 * * *', timezone: 'Nowhere' })).status, 400)
  const policy = await ask('PUT', `${path}/backupPolicy`, { cron_at: '0 3 * * *', timezone: 'Europe/Paris', keep: 1 })
  assert.ok(new Date(policy.next_at) > new Date())
  await database`update backup_policy set next_at = now() - interval '3 days' where service_id = ${store}`
  await until('the older one is gone', async () => {
    const { results } = await ask('GET', `${path}/backup`)
    return results.length === 1 && results[0].id !== first.id && results[0].proof.state === 'PROVEN'
  })
  assert.ok(new Date((await ask('GET', `${path}/backupPolicy`)).next_at) > new Date())
})

test('deleting a service deletes its backups and their files', async () => {
  const { id } = await backUp()
  await writeFile(`${fileOf(id)}.killed.new`, 'what a server that was killed left of a file')
  assert.equal((await filesOf(store)).length, 2)
  assert.equal((await send('DELETE', `/environment/${environment}`)).status, 204)
  await until('its record is gone', async () => (await database`select from backup where id = ${id}`).length === 0)
  // Runs it now instead of at its time.
  await createFileEraser({ database, directory: join(directory, 'backups') }).reconcile(AbortSignal.timeout(10_000))
  assert.deepEqual(await filesOf(store), [])
})

test('a list continues after a given backup', async () => {
  const { id } = await backUp()
  const second = await backUp()
  const { results } = await ask('GET', `${path}/backup?startId=${second.id}`)
  assert.deepEqual(
    results.map((one: { id: string }) => one.id),
    [id],
  )
  assert.equal((await send('GET', `${path}/backup?startId=${environment}`)).status, 404)
})

test('the next server finishes a backup that a server left unfinished', async () => {
  const copying = holdCopy()
  const { id } = await ask('POST', `${path}/backup`, {})
  await copying.held
  const other = await platform.another()
  await Promise.all([platform.workflows.stop(), Promise.resolve().then(copying.goOn)])
  volumes.onCopy = async () => {}
  other.start()
  after(() => other.stop())
  await isMade(id)
  await isJudged(id)
  const { status, proof } = await told(id)
  assert.deepEqual([status.state, proof.state], ['SUCCEEDED', 'PROVEN'])
  await isTidy()
})
