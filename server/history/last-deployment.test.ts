import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Action, RequestStatus, State } from '@quayside/contract/states.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { newId } from '../lib/id.ts'

/** Clients that wait for a deployment read its state, whatever the state of other services. */
const platform = await createPlatform({ after })
const { a, call, database } = platform

interface Past {
  readonly action: Action
  readonly status: RequestStatus
  readonly targets: readonly State[]
}
/** An environment with a failed service and the record of a last request. Nothing runs. */
async function environmentAfter({ action, status, targets }: Past) {
  const { environmentId, applicationId, projectId } = await platform.addObjects(a)
  const id = newId()
  const ended = !['QUEUED', 'ONGOING', 'CANCELING'].includes(status)
  await database`update service set state = 'BUILD_ERROR' where id = ${applicationId}`
  await database`insert into workflow (id, kind, key, state, input)
    values (${id}, 'deployment', ${environmentId}, 'done', '{}')`
  await database`
    insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
      created_at, updated_at, started_at, finished_at)
    values (${id}, ${environmentId}, ${`${environmentId}-7`}, ${action}, ${status}, 'API', 'fixture', 'fixture',
      now(), now(), now(), ${ended ? new Date() : null})`
  for (const state of targets) {
    await database`
      insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      status,
        former_state, started_at, finished_at)
      values (${id}, ${newId()}, 'application', 'fixture', 'app://icon', 'stage', 0, ${state},
      ${ended ? 'SUCCESS' : 'ONGOING'},
        'READY', now(), ${ended ? new Date() : null})`
  }
  return { environmentId, projectId }
}

const get = async (path: string) => {
  const { status, body, text } = await call(a.tokens.READ, 'GET', path)
  assert.equal(status, 200, text)
  return Object(body)
}

const cases: readonly (Past & { readonly expected: State })[] = [
  { action: 'DEPLOY', status: 'SUCCESS', targets: ['DEPLOYED'], expected: 'DEPLOYED' },
  { action: 'STOP', status: 'SUCCESS', targets: ['STOPPED'], expected: 'STOPPED' },
  { action: 'RESTART', status: 'SUCCESS', targets: ['RESTARTED'], expected: 'RESTARTED' },
  { action: 'DEPLOY', status: 'CANCELED', targets: ['CANCELED'], expected: 'CANCELED' },
  { action: 'DEPLOY', status: 'QUEUED', targets: ['DEPLOYMENT_QUEUED'], expected: 'DEPLOYMENT_QUEUED' },
  { action: 'DEPLOY', status: 'ONGOING', targets: ['DEPLOYED', 'BUILDING'], expected: 'BUILDING' },
  { action: 'DEPLOY', status: 'ERROR', targets: ['DEPLOYED', 'DEPLOYMENT_ERROR'], expected: 'DEPLOYMENT_ERROR' },
]

for (const { expected, ...past } of cases) {
  test(`last_deployment_state is ${expected} after ${past.action} ${past.status} beside a failed service`, async () => {
    const { environmentId, projectId } = await environmentAfter(past)
    const answers = [
      await get(`/environment/${environmentId}/status`),
      (await get(`/environment/${environmentId}/statuses`)).environment,
      (await get(`/environment/${environmentId}/statusesWithStages`)).environment,
      ...(await get(`/project/${projectId}/environment/status`)).results.filter(
        (one: { id: string }) => one.id === environmentId,
      ),
      ...(await get(`/project/${projectId}/environment/overview`)).results
        .filter((one: { id: string }) => one.id === environmentId)
        .map((one: { deployment_status: object }) => one.deployment_status),
    ]
    assert.equal(answers.length, 5)
    for (const { last_deployment_state, last_deployment_id, state } of answers) {
      assert.deepEqual(
        [last_deployment_state, last_deployment_id, state],
        [expected, `${environmentId}-7`, 'BUILD_ERROR'],
      )
    }
  })
}

test('last_deployment_state is READY before any deployment', async () => {
  const { environmentId } = await platform.addObjects(a)
  const { last_deployment_state, last_deployment_id } = await get(`/environment/${environmentId}/status`)
  assert.deepEqual([last_deployment_state, last_deployment_id], ['READY', null])
})
