import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, type Platform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { findService, lockService, type ServiceRow } from '../services/index.ts'
import { lockEnvironment } from './request-store.ts'

/** Which requests are accepted or merged, and the states that services are left in. */
const by = { id: 'somebody', name: 'Somebody', origin: 'API' as const }

async function serviceOf({ database }: Platform, id: string): Promise<ServiceRow> {
  const row = await findService(database, id)
  assert.ok(row)
  return row
}

async function addApplication({ call, a }: Platform, environmentId: string, name: string): Promise<string> {
  const body = { name, git_repository: { url: 'http://localhost:3000/git/hello.git' } }
  const answer = await call(a.tokens.WRITE, 'POST', `/environment/${environmentId}/application`, body)
  assert.equal(answer.status, 201, answer.text)
  return Object(answer.body).id
}

/** Whether a statement waits for a lock. */
async function isBlocked({ database }: Platform): Promise<boolean> {
  const waiting = await database`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return waiting.length > 0
}

const atRest = (platform: Platform, environmentId: string) =>
  until('no request is active', async () => {
    const [row] = await platform.database`
      select from deployment_request where environment_id = ${environmentId} and finished_at is null`
    return row === undefined
  })

test('a request merges nothing more when it is about to start', async (t) => {
  const platform = await createPlatform(t)
  const { environmentId, applicationId } = platform.a.objects
  const other = await serviceOf(platform, await addApplication(platform, environmentId, 'other'))
  const { deployments } = platform.rooms
  const first = await deployments.deploy(await serviceOf(platform, applicationId), by, undefined)
  const began = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const beginning = platform.database.begin(async (sql) => {
    await sql`update deployment_request set status = 'ONGOING', started_at = now() where id = ${first.id}`
    began.resolve()
    await released.promise
  })
  await began.promise
  let isAnswered = false
  const second = deployments.deploy(other, by, undefined).finally(() => {
    isAnswered = true
  })
  await until('the second waits for the first, or is answered', async () => isAnswered || (await isBlocked(platform)))
  released.resolve()
  await beginning
  assert.notEqual((await second).id, first.id)
})

test('a request is queued although it was accepted while the one before it ended', async (t) => {
  const platform = await createPlatform(t)
  const { database, rooms, a } = platform
  const service = await serviceOf(platform, a.objects.applicationId)
  await database`update service set state = 'DEPLOYING' where id = ${service.id}`
  const ended = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const ending = database.begin(async (sql) => {
    await lockService(sql, service.id)
    await sql`update service set state = 'DEPLOYED' where id = ${service.id}`
    ended.resolve()
    await released.promise
  })
  await ended.promise
  const accepted = rooms.deployments.deploy(service, by, undefined)
  await until('the request waits for that end', () => isBlocked(platform))
  released.resolve()
  await Promise.all([ending, accepted])
  assert.equal((await serviceOf(platform, service.id)).state, 'DEPLOYMENT_QUEUED')
})

test('a waiting request merges the same action of the same caller, and no other', async (t) => {
  const platform = await createPlatform(t)
  const { environmentId, applicationId } = platform.a.objects
  const other = await serviceOf(platform, await addApplication(platform, environmentId, 'other'))
  const service = await serviceOf(platform, applicationId)
  const { deployments } = platform.rooms
  const first = await deployments.deploy(service, by, undefined)
  assert.equal((await deployments.deploy(other, by, undefined)).id, first.id)
  assert.equal((await deployments.deploy(service, by, undefined)).id, first.id)
  const stranger = { ...by, id: 'somebody else' }
  const second = await deployments.deploy(service, stranger, undefined)
  assert.notEqual(second.id, first.id)
  const third = await deployments.stop(service, stranger)
  assert.notEqual(third.id, second.id)
  // Another request is the last waiting one now.
  assert.notEqual((await deployments.deploy(service, by, undefined)).id, first.id)
})

test('a request is decided by the current state, not by the one that the caller has read', async (t) => {
  const platform = await createPlatform(t)
  const seen = await serviceOf(platform, platform.a.objects.applicationId)
  const { deployments } = platform.rooms
  await platform.database`update service set state = 'DELETING' where id = ${seen.id}`
  await assert.rejects(deployments.deploy(seen, by, undefined), { code: 'conflict', message: /being deleted/ })
  await platform.database`delete from service where id = ${seen.id}`
  await assert.rejects(deployments.deploy(seen, by, undefined), { code: 'notFound' })
})

test('a deletion waits for its turn when a deployment is queued', async (t) => {
  const platform = await createPlatform(t)
  const seen = await serviceOf(platform, platform.a.objects.applicationId)
  const { deployments } = platform.rooms
  await deployments.deploy(seen, by, undefined)
  await deployments.remove(seen, by)
  const actions = await platform.database<{ action: string }[]>`
    select action from deployment_request where environment_id = ${seen.environment_id} order by seq`
  assert.deepEqual([...actions], [{ action: 'DEPLOY' }, { action: 'DELETE' }])
  await serviceOf(platform, seen.id)
})

test('an environment accepts no new service while it is being deleted', async (t) => {
  const platform = await createPlatform(t)
  const { call, a } = platform
  const { environmentId, applicationId } = a.objects
  await platform.rooms.deployments.deploy(await serviceOf(platform, applicationId), by, undefined)
  assert.equal((await call(a.tokens.ADMIN, 'DELETE', `/environment/${environmentId}`)).status, 204)
  const body = { name: 'late', git_repository: { url: 'http://localhost:3000/git/hello.git' } }
  const late = await call(a.tokens.WRITE, 'POST', `/environment/${environmentId}/application`, body)
  assert.equal(late.status, 409, late.text)
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})).status, 409)
})

test('a service gets back the state of the request before when its own request is cancelled first', async (t) => {
  const platform = await createPlatform(t, { works: true })
  const { call, a, builder, database } = platform
  await platform.addRepository(a)
  const { environmentId, applicationId: last } = a.objects
  const first = await addApplication(platform, environmentId, 'first')
  await database`
    update service set stage_id = (select id from deployment_stage where environment_id = ${environmentId}
      and name = 'DEFAULT DATABASE') where id = ${first}`
  const deploy = (token: string) => call(token, 'POST', `/environment/${environmentId}/deploy`)
  builder.tell(first, { type: 'hang', lines: ['the build hangs'] })
  await deploy(a.tokens.DEPLOY)
  await until('the build hangs', async () => {
    const { text } = await call(a.tokens.READ, 'GET', `/environment/${environmentId}/logs`)
    return text.includes('the build hangs')
  })
  // Accepted while the other service is being worked on, so the current state cannot be restored.
  await deploy(a.tokens.ADMIN)
  assert.equal((await serviceOf(platform, last)).state, 'DEPLOYMENT_QUEUED')
  builder.tell(first, { type: 'fail' })
  await call(a.tokens.DEPLOY, 'POST', `/environment/${environmentId}/cancelDeployment`)
  await atRest(platform, environmentId)
  assert.equal((await serviceOf(platform, first)).state, 'BUILD_ERROR')
  assert.equal((await serviceOf(platform, last)).state, 'CANCELED')
})

test('concurrent callers get separate requests, numbered without a gap', async (t) => {
  const platform = await createPlatform(t)
  const service = await serviceOf(platform, platform.a.objects.applicationId)
  const callers = Array.from({ length: 20 }, (_, index) => ({ ...by, id: `caller ${index}` }))
  const { deployments } = platform.rooms
  const accepted = await Promise.all(callers.map((caller) => deployments.deploy(service, caller, undefined)))
  assert.equal(new Set(accepted.map(({ id }) => id)).size, callers.length)
  const rows = await platform.database<{ execution_id: string; workflow: boolean; targets: number }[]>`
    select execution_id, exists (select from workflow w where w.id = r.id) as workflow,
      (select count(*)::int from deployment_target t where t.request_id = r.id) as targets
    from deployment_request r where environment_id = ${service.environment_id} order by seq`
  assert.equal(rows.length, callers.length)
  assert.ok(rows.every(({ workflow, targets }) => workflow && targets === 1))
  assert.equal(new Set(rows.map(({ execution_id }) => execution_id)).size, callers.length)
})

test('the reply to a request has the status that is read afterwards', async (t) => {
  const platform = await createPlatform(t)
  const { call, a } = platform
  const { applicationId } = a.objects
  for (const action of ['deploy', 'deploy', 'stop']) {
    const accepted = Object(await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/${action}`, {})).body
    const read = Object(await call(a.tokens.READ, 'GET', `/application/${applicationId}/status`)).body
    for (const [name, value] of Object.entries(read)) {
      if (name !== 'id') assert.deepEqual(accepted[name], value, name)
    }
  }
})

test('a variable is written without waiting while a request of its environment is accepted', async (t) => {
  const { database, call, a } = await createPlatform(t)
  const { environmentId, applicationId } = a.objects
  const late = new Promise<never>((_resolve, reject) => {
    AbortSignal.timeout(30_000).onabort = () => reject(new Error('the variable waits for the request'))
  })
  await database.begin(async (sql) => {
    await lockEnvironment(sql, environmentId)
    const body = { key: 'WRITTEN_MEANWHILE', value: 'x' }
    const path = `/environment/${environmentId}/environmentVariable`
    const answer = await Promise.race([call(a.tokens.WRITE, 'POST', path, body), late])
    assert.equal(answer.status, 201, answer.text)
    assert.equal(await lockService(sql, applicationId), true)
  })
})

test('an accepted request sends one event for itself and one for each queued service', async (t) => {
  const platform = await createPlatform(t)
  const { environmentId, applicationId } = platform.a.objects
  const other = await serviceOf(platform, await addApplication(platform, environmentId, 'other'))
  const service = await serviceOf(platform, applicationId)
  await platform.database`delete from state_change`
  const { deployments } = platform.rooms
  const { id } = await deployments.deploy(service, by)
  for (const taken of [other, service]) assert.equal((await deployments.deploy(taken, by)).id, id)
  const told = await platform.database<{ type: string; what: string; who: string; place: boolean }[]>`
    select type, coalesce(data ->> 'status', data ->> 'state') as what, coalesce(data ->> 'deployment_request_id',
    data ->> 'service_id') as who,
      data ->> 'environment_id' = ${environmentId} and mode is not null and project_id is not null as place
    from state_change order by id`
  assert.deepEqual(
    told.map((row) => [row.type, row.what, row.who, row.place]),
    [
      ['deployment.status', 'QUEUED', id, true],
      ['service.state', 'DEPLOYMENT_QUEUED', service.id, true],
      ['service.state', 'DEPLOYMENT_QUEUED', other.id, true],
    ],
  )
})

test('a waiting request restores a settled state when the one before it in the queue was cancelled', async (t) => {
  const platform = await createPlatform(t)
  const { call, a } = platform
  const service = await serviceOf(platform, a.objects.applicationId)
  const { deployments } = platform.rooms
  const first = await deployments.deploy(service, by, undefined)
  const second = await deployments.deploy(service, { ...by, id: 'somebody else' }, undefined)
  const cancelled = await call(a.tokens.DEPLOY, 'POST', `/deploymentQueue/${first.id}/cancelDeployment`)
  assert.equal(cancelled.status, 202, cancelled.text)
  const [target] = await platform.database`
    select s.state, t.former_state from deployment_target t join service s on s.id = t.service_id
    where t.request_id = ${second.id}`
  assert.deepEqual({ ...target }, { state: 'DEPLOYMENT_QUEUED', former_state: 'READY' })
})

test('a service that runs nothing gets its previous state back when a waiting request is cancelled', async (t) => {
  const platform = await createPlatform(t)
  const { call, a, database } = platform
  const { environmentId, applicationId: id } = a.objects
  const expected = {
    READY: 'READY',
    STOPPED: 'STOPPED',
    DELETED: 'DELETED',
    DEPLOYED: 'CANCELED',
    BUILD_ERROR: 'CANCELED',
  }
  for (const [before, after] of Object.entries(expected)) {
    for (const requests of [['deploy'], ['deploy', 'uninstall', 'deploy']]) {
      await database`update service set state = ${before} where id = ${id}`
      for (const action of requests) {
        const { status, text } = await call(a.tokens.DEPLOY, 'POST', `/application/${id}/${action}`, {})
        assert.equal(status, 202, text)
      }
      const { status } = await call(a.tokens.DEPLOY, 'POST', `/environment/${environmentId}/cancelDeployment`)
      assert.equal(status, 202)
      assert.equal((await serviceOf(platform, id)).state, after, `${before}, ${requests}`)
    }
  }
})

test('cancelling the later of two waiting requests first restores the state before both', async (t) => {
  const platform = await createPlatform(t)
  const { call, a } = platform
  const service = await serviceOf(platform, a.objects.applicationId)
  const { deployments } = platform.rooms
  const [first, second, third] = await Promise.all(
    ['one', 'two', 'three'].map((id) => deployments.deploy(service, { ...by, id }, undefined)),
  )
  for (const request of [second, first, third]) {
    await call(a.tokens.DEPLOY, 'POST', `/deploymentQueue/${request?.id}/cancelDeployment`)
  }
  assert.equal((await serviceOf(platform, service.id)).state, 'READY')
})
