import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'

/** Actions on several services at once. Nothing runs here, so requests stay queued. */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform

async function ask(environmentId: string, action: string, body?: object) {
  const answer = await call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/${action}`, body)
  return { status: answer.status, body: Object(answer.body), message: String(Object(answer.body).message) }
}
const stateOf = async (id: string): Promise<unknown> =>
  (await database`select state from service where id = ${id}`)[0]?.['state']
const targetsOf = async (environmentId: string): Promise<unknown[]> =>
  (
    await database`
      select t.service_id from deployment_target t join deployment_request r on r.id = t.request_id
      where r.environment_id = ${environmentId} and r.status = 'QUEUED' order by 1`
  ).map((row) => row['service_id'])
const deployed = (...ids: string[]) => database`
  update service set state = 'DEPLOYED', release_id = id, last_deployment_date = now(), deployed_config_version =
  config_version
  where id = any(${ids}::uuid[])`

test('services of several kinds are deployed in one request, including skipped ones', async () => {
  const { environmentId, applicationId, more } = await platform.addObjects(a)
  const containerId = more['containerId'] ?? ''
  await database`update service set is_skipped = true where id = ${containerId}`
  const { status, body } = await ask(environmentId, 'service/deploy', {
    applications: [{ application_id: applicationId }, { application_id: applicationId.toUpperCase() }],
    containers: [{ id: containerId }],
    databases: null,
  })
  assert.deepEqual([status, body.state], [202, 'DEPLOYMENT_QUEUED'])
  assert.deepEqual(await targetsOf(environmentId), [applicationId, containerId].sort())
})

test('a service of another environment or kind is rejected with its position in the body', async () => {
  const { environmentId, applicationId, more } = await platform.addObjects(a)
  const containerId = more['containerId']
  const foreign = b.objects.applicationId
  const elsewhere = a.objects.applicationId
  for (const id of [foreign, elsewhere]) {
    const answer = await ask(environmentId, 'service/deploy', { applications: [{ application_id: id }] })
    assert.equal(answer.status, 404)
    assert.match(answer.message, /^applications\[0\]\.application_id: /)
  }
  const wrong = await ask(environmentId, 'service/stop', { application_ids: [applicationId, containerId] })
  assert.equal(wrong.status, 400)
  assert.match(wrong.message, /^application_ids\[1\]: .* of the kind container/)
  assert.equal((await ask(environmentId, 'service/delete', {})).status, 400)
  const commit = await ask(environmentId, 'service/deploy', {
    applications: [{ application_id: applicationId, git_commit_id: 'not a commit' }],
  })
  assert.deepEqual([commit.status, commit.message.split(' ')[0]], [400, 'applications[0].git_commit_id'])
  assert.deepEqual(await targetsOf(environmentId), [])
})

test('an action on several services is rejected when the state of one forbids it', async () => {
  const { environmentId, applicationId, more } = await platform.addObjects(a)
  const containerId = more['containerId'] ?? ''
  await deployed(applicationId)
  const body = { application_ids: [applicationId], container_ids: [containerId] }
  for (const action of ['stop', 'restart-service'])
    assert.equal((await ask(environmentId, `service/${action}`, body)).status, 409)
  assert.equal(await stateOf(applicationId), 'DEPLOYED')
  await deployed(containerId)
  const restarted = await ask(environmentId, 'service/restart-service', body)
  assert.deepEqual([restarted.status, restarted.body.id, restarted.body.state], [202, environmentId, 'RESTART_QUEUED'])
  assert.equal(restarted.body.service_deployment_status, 'UP_TO_DATE')
})

test('a deletion removes services at once when they were never deployed', async () => {
  const { environmentId, applicationId, more } = await platform.addObjects(a)
  const containerId = more['containerId'] ?? ''
  await deployed(applicationId)
  const body = { application_ids: [applicationId], container_ids: [containerId] }
  assert.equal((await ask(environmentId, 'service/delete?skipReconcile=true', body)).status, 400)
  assert.equal((await ask(environmentId, 'service/delete', body)).status, 200)
  assert.deepEqual([await stateOf(applicationId), await stateOf(containerId)], ['DELETE_QUEUED', undefined])
  assert.equal((await ask(environmentId, 'service/delete', { application_ids: [applicationId] })).status, 200)
})

test('uninstalling an environment keeps its services, and is rejected when it was never deployed', async () => {
  const { environmentId, applicationId, more } = await platform.addObjects(a)
  assert.equal((await ask(environmentId, 'uninstall')).status, 409)
  assert.equal((await ask(environmentId, 'service/uninstall', { application_ids: [applicationId] })).status, 200)
  assert.deepEqual(await targetsOf(environmentId), [])
  await deployed(applicationId)
  const answer = await ask(environmentId, 'uninstall')
  assert.deepEqual([answer.status, answer.body.state], [202, 'DELETE_QUEUED'])
  assert.deepEqual(await targetsOf(environmentId), [applicationId])
  assert.equal(await stateOf(more['containerId'] ?? ''), 'READY')
})

test('an environment is STOPPED when all its services are uninstalled', async () => {
  const { environmentId } = await platform.addObjects(a)
  await database`update service set state = 'DELETED' where environment_id = ${environmentId}`
  const { body } = await call(a.tokens.READ, 'GET', `/environment/${environmentId}/status`)
  assert.equal(Object(body).state, 'STOPPED')
})

test('a forced cancel is rejected with what to do instead', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})).status, 202)
  const forced = await ask(environmentId, 'cancelDeployment', { force_cancel: true })
  assert.equal(forced.status, 400)
  assert.match(forced.message, /^force_cancel must be false: .* Cancel without it\.$/)
  assert.deepEqual(await targetsOf(environmentId), [applicationId])
  assert.equal((await ask(environmentId, 'cancelDeployment', { force_cancel: false })).status, 202)
  assert.deepEqual(await targetsOf(environmentId), [])
})

test('a waiting request is cancelled by its id, once', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}/deploy`
  const id = Object((await call(a.tokens.DEPLOY, 'POST', path, {})).body).id
  const queue = Object((await call(a.tokens.READ, 'GET', `/service/${applicationId}/deploymentQueue`)).body).results
  assert.deepEqual([queue.length, queue[0].identifier.deployment_request_id], [1, id])
  const cancel = (token: string) => call(token, 'POST', `/deploymentQueue/${id}/cancelDeployment`)
  assert.equal((await cancel(b.tokens.ADMIN)).status, 404)
  assert.equal((await cancel(a.tokens.DEPLOY)).status, 202)
  assert.equal(await stateOf(applicationId), 'READY')
  const again = await cancel(a.tokens.DEPLOY)
  assert.equal(again.status, 409)
  assert.match(Object(again.body).message, /CANCELED/)
  const status = await call(a.tokens.READ, 'GET', `/environment/deploymentStatus?deploymentRequestId=${id}`)
  assert.deepEqual(status.body, { deployment_request_id: id, environment_id: environmentId, status: 'CANCELED' })
  const foreign = await call(b.tokens.READ, 'GET', `/environment/deploymentStatus?deploymentRequestId=${id}`)
  assert.equal(foreign.status, 404)
})
