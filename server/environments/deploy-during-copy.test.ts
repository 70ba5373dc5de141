import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'

/** Deployments requested during a copy with data, on the fake engine. */
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

let environment: string
let [app, store] = ['', '']
let made = 0
await platform.addRepository(a)
beforeEach(async () => {
  volumes.onCopy = async () => {}
  const { id } = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `busy ${++made}` })
  environment = id
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  const storage = [{ mount_point: '/data', size: 4, type: 'FAST_SSD' }]
  app = (await ask('POST', `/environment/${id}/application`, { name: 'web', git_repository, storage })).id
  const type = { type: 'POSTGRESQL', version: '15', mode: 'CONTAINER' }
  store = (await ask('POST', `/environment/${id}/database`, { name: 'store', ...type })).id
  await ask('POST', `/environment/${id}/deploy`)
  await atRest(id)
})
const clone = () => ask('POST', `/environment/${environment}/clone`, { name: `copy ${++made}`, with_data: true })
const cloneApp = () =>
  ask('POST', `/application/${app}/clone`, { name: `web${++made}`, environment_id: environment, with_data: true })
const applicationOf = async (id: string) => (await ask('GET', `/environment/${id}/application`)).results[0].id as string
const requestsOf = (environmentId: string) =>
  database<{ id: string; action: string; status: string }[]>`
    select id, action, status from deployment_request where environment_id = ${environmentId} order by seq`
const statusesOf = async (environmentId: string) => (await requestsOf(environmentId)).map(({ status }) => status)
const isWhole = (table: 'environment' | 'service', id: string) =>
  until('the copy is whole', async () => {
    const rows = await database`select from ${database(table)} where id = ${id} and copying is null`
    return rows.length === 1
  })
const isGone = (table: 'environment' | 'service', id: string) =>
  until('the copy is gone', async () => (await database`select from ${database(table)} where id = ${id}`).length === 0)
/** Once other work of this server is claimed, the waiting request has been passed over. */
async function claimsElsewhere(): Promise<void> {
  const other = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `other ${++made}` })
  await ask('POST', `/environment/${other.id}/database`, {
    name: 'store',
    type: 'POSTGRESQL',
    version: '15',
    mode: 'CONTAINER',
  })
  await ask('POST', `/environment/${other.id}/deploy`)
  await atRest(other.id)
}

/** Holds the first volume that is copied. */
function holdCopy(): { held: Promise<void>; goOn: () => void; fail: (error: Error) => void } {
  const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  volumes.onCopy = async () => {
    held.resolve()
    await gate.promise
  }
  return { held: held.promise, goOn: () => gate.resolve(), fail: (error) => gate.reject(error) }
}

test('a deployment of the source waits while its data is copied', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  const accepted = await send('POST', `/environment/${environment}/deploy`)
  assert.equal(accepted.status, 202, accepted.text)
  await claimsElsewhere()
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'QUEUED'])
  const status = await ask('GET', `/application/${app}/status`)
  assert.deepEqual([status.state, status.reason], ['DEPLOYMENT_QUEUED', 'It waits until the data are copied.'])
  copying.goOn()
  await isWhole('environment', id)
  await atRest(environment)
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'SUCCESS'])
})

test('a deployment of the copy is accepted at once and runs when its data is complete', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  const first = await send('POST', `/environment/${id}/deploy`)
  assert.equal(first.status, 202, first.text)
  await copying.held
  const copy = await applicationOf(id)
  const one = await send('POST', `/application/${copy}/deploy`, {})
  assert.deepEqual([one.status, Object(one.body).state], [202, 'DEPLOYMENT_QUEUED'], one.text)
  await ask('POST', `/application/${copy}/stop`)
  await claimsElsewhere()
  assert.deepEqual(new Set(await statusesOf(id)), new Set(['QUEUED']))
  assert.equal((await ask('GET', `/environment/${id}/status`)).state, 'DEPLOYMENT_QUEUED')
  assert.ok(!(await engine.observeAll(AbortSignal.timeout(60_000))).has(copy))
  copying.goOn()
  await atRest(id)
  assert.deepEqual(new Set(await statusesOf(id)), new Set(['SUCCESS']))
  assert.equal((await ask('GET', `/application/${copy}/status`)).state, 'STOPPED')
})

test('a deployment of a copied service is accepted at once and waits for its data', async () => {
  const copying = holdCopy()
  const copy = await cloneApp()
  await copying.held
  const accepted = await send('POST', `/application/${copy.id}/deploy`, {})
  assert.deepEqual([accepted.status, Object(accepted.body).reason], [202, 'It waits until the data are copied.'])
  await claimsElsewhere()
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'QUEUED'])
  copying.goOn()
  await isWhole('service', copy.id)
  await atRest(environment)
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'SUCCESS'])
})

test('a deployment that waits for data can be cancelled at once', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  await ask('POST', `/environment/${id}/deploy`)
  await ask('POST', `/environment/${id}/cancelDeployment`, {})
  assert.deepEqual(await statusesOf(id), ['CANCELED'])
  copying.goOn()
  await isWhole('environment', id)
  assert.deepEqual(await statusesOf(id), ['CANCELED'])
})

test('a copy with a waiting deployment can be deleted at once, which ends the copying', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  await ask('POST', `/environment/${id}/deploy`)
  assert.equal((await send('DELETE', `/environment/${id}`)).status, 204)
  await isGone('environment', id)
  copying.goOn()
  const isOver = async () =>
    (await database`select from workflow where key = ${id} and state in ('queued', 'running')`).length === 0
  await until('nothing of it waits', isOver)
})

const removals: Readonly<Record<string, (id: string) => ReturnType<typeof send>>> = {
  'by itself': (id) => send('DELETE', `/application/${id}`),
  'with others': (id) => send('POST', `/environment/${environment}/service/delete`, { application_ids: [id] }),
}
for (const [way, remove] of Object.entries(removals)) {
  test(`a request runs without a copied service when the service is deleted ${way}`, async () => {
    const copying = holdCopy()
    const copy = await cloneApp()
    await copying.held
    const body = { applications: [{ application_id: copy.id }], databases: [store] }
    await ask('POST', `/environment/${environment}/service/deploy`, body)
    const answer = await remove(copy.id)
    assert.ok(answer.status < 300, answer.text)
    await isGone('service', copy.id)
    copying.goOn()
    await atRest(environment)
    assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'SUCCESS'])
    const [target] = await database`select status from deployment_target where service_id = ${copy.id}`
    assert.equal(target?.['status'], 'CANCELED')
  })
}

test('a request for a copied service alone is cancelled when the copy is deleted', async () => {
  const copying = holdCopy()
  const copy = await cloneApp()
  await copying.held
  await ask('POST', `/application/${copy.id}/deploy`, {})
  assert.equal((await send('DELETE', `/application/${copy.id}`)).status, 204)
  await isGone('service', copy.id)
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'CANCELED'])
  copying.goOn()
})

test('a deployment of a copied service fails with the reason when its data cannot be copied', async () => {
  const copying = holdCopy()
  const copy = await cloneApp()
  await copying.held
  await ask('POST', `/application/${copy.id}/deploy`, {})
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await isGone('service', copy.id)
  assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'ERROR'])
  const [target] = await database`select state, reason from deployment_target where service_id = ${copy.id}`
  assert.deepEqual(target?.['state'], 'DEPLOYMENT_ERROR')
  assert.match(target?.['reason'], /^Its data could not be copied: .*no space left on the device/)
})

test('a failed copy reports that it cannot be removed, and deployments of its source continue', async (t) => {
  t.after(() => database.unsafe('drop function if exists keep_copies cascade'))
  await database.unsafe(`
    create function keep_copies() returns trigger language plpgsql as $$
      begin raise exception 'the disk holds it'; end $$;
    create trigger keep_copies before delete on service for each row when (old.copying is not null)
      execute function keep_copies();`)
  const copying = holdCopy()
  const copy = await cloneApp()
  await copying.held
  await ask('POST', `/application/${app}/deploy`, {})
  await ask('POST', `/application/${copy.id}/deploy`, {})
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await atRest(environment)
  const targets = await database`
    select status from deployment_target where service_id = any(${[app, copy.id]}::uuid[])
    order by service_id = ${copy.id}, service_seq`
  assert.deepEqual(
    targets.map(({ status }) => status),
    ['SUCCESS', 'SUCCESS', 'ERROR'],
  )
  const [record] = await database`select status, reason from copy_record where id = ${copy.id}`
  assert.equal(record?.['status'], 'ERROR')
  assert.match(record?.['reason'], /no space left on the device.* could not be removed: the disk holds it/)
  await ask('POST', `/application/${copy.id}/deploy`, {})
  await atRest(environment)
  assert.equal((await statusesOf(environment)).at(-1), 'ERROR', 'nothing runs on half of its data')
  await database.unsafe('drop function keep_copies cascade')
  await isGone('service', copy.id)
  const [after] = await database`select reason from copy_record where id = ${copy.id}`
  assert.doesNotMatch(after?.['reason'], /could not be removed/)
})

test('a deployment of a copied environment fails when its data cannot be copied', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  await ask('POST', `/environment/${id}/deploy`)
  const [request] = await requestsOf(id)
  copying.fail(new EngineError('refused', 'no space left on the device'))
  await isGone('environment', id)
  const [workflow] = await database`select state from workflow where id = ${request?.id ?? ''}`
  assert.equal(workflow?.['state'], 'canceled')
  const events = await database<{ payload: { logs: string[] } }[]>`
    select payload from event where environment_id = ${id} and type = 'DEPLOYMENT_FAILURE'`
  assert.match(events[0]?.payload.logs.join() ?? '', /no space left on the device/)
})

test('changes of settings and unqueued deployments return 409 during a copy', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  const copy = await applicationOf(id)
  for (const [method, path, body] of [
    ['POST', `/environment/${id}/environmentVariable`, { key: 'A', value: 'b' }],
    ['PUT', `/environment/${id}`, { name: 'renamed' }],
    ['PUT', `/application/${copy}`, { name: 'renamed' }],
    ['POST', `/application/${copy}/clone`, { name: 'x', environment_id: environment }],
    ['POST', `/environment/${id}/service/delete`, { application_ids: [copy] }],
  ] as const) {
    const answer = await send(method, path, body)
    assert.deepEqual(
      [answer.status, /copy is still in progress/.test(answer.text)],
      [409, true],
      `${path}: ${answer.text}`,
    )
  }
  copying.goOn()
  await isWhole('environment', id)
})

/** Requests a deployment that waits for the environment's lock until `change` is committed. */
async function deployAfter(change: (sql: typeof database) => Promise<unknown>): Promise<void> {
  const [locked, changing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const committed = database.begin(async (sql) => {
    // Another number: the request waits for the lock and checks again.
    await sql`update environment set request_number = request_number + 1 where id = ${environment}`
    await change(sql as unknown as typeof database)
    locked.resolve()
    await changing.promise
  })
  await locked.promise
  const answer = send('POST', `/environment/${environment}/deploy`)
  await until('the request waits', async () => {
    const rows = await database`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return rows.length > 0
  })
  changing.resolve()
  await committed
  const { status, text } = await answer
  assert.equal(status, 202, text)
  await atRest(environment)
}

test('a deployment is accepted when one of its services is deleted just before it is written', async () => {
  const spare = { name: 'spare', git_repository: { url: 'http://localhost:3000/git/hello.git' } }
  const { id } = await ask('POST', `/environment/${environment}/application`, spare)
  await deployAfter((sql) => sql`delete from service where id = ${id}`)
})

test('a deployment is accepted when the stage of one of its services is deleted just before it is written', async () => {
  const { id } = await ask('POST', `/environment/${environment}/deploymentStage`, { name: 'other' })
  await ask('PUT', `/deploymentStage/${id}/service/${app}`)
  await deployAfter(async (sql) => {
    await sql`
      update service set stage_id = (select id from deployment_stage
        where environment_id = ${environment} and id <> ${id} limit 1) where id = ${app}`
    await sql`delete from deployment_stage where id = ${id}`
  })
})

test('deployments are accepted when copies with data begin at the same time', async () => {
  const seen: string[] = []
  for (let round = 0; round < 3; round++) {
    const { id } = await clone()
    const copy = send('POST', `/application/${app}/clone`, {
      name: `web${++made}`,
      environment_id: environment,
      with_data: true,
    })
    const deploys = [environment, id, environment, id].map((one) => send('POST', `/environment/${one}/deploy`))
    const answers = await Promise.all(deploys)
    seen.push(...answers.filter(({ status }) => status !== 202).map(({ text }) => text))
    await copy
    await isWhole('environment', id)
    await until('all copies are whole', async () => {
      return (await database`select from service where copying is not null`).length === 0
    })
  }
  assert.deepEqual(seen, [])
  await atRest(environment)
})

test('a waiting deployment runs when the server was stopped and another one continues the copy', async () => {
  const copying = holdCopy()
  const { id } = await clone()
  await copying.held
  await ask('POST', `/environment/${id}/deploy`)
  await ask('POST', `/environment/${environment}/deploy`)
  volumes.onCopy = async () => {}
  await Promise.all([platform.workflows.stop(), Promise.resolve().then(copying.goOn)])
  assert.deepEqual(await statusesOf(id), ['QUEUED'])
  assert.equal((await statusesOf(environment)).at(-1), 'QUEUED')
  const next = await platform.another()
  try {
    next.start()
    await atRest(id)
    await atRest(environment)
    assert.deepEqual(await statusesOf(id), ['SUCCESS'])
    assert.deepEqual(await statusesOf(environment), ['SUCCESS', 'SUCCESS'])
  } finally {
    await next.stop()
  }
})
