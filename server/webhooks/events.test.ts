import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { addPlace } from '../variables/testing.ts'
import type { DeploymentFacts } from './event-store.ts'
import { recordDeploymentEvent, toPayload } from './events.ts'

const facts = (targets: DeploymentFacts['targets']): DeploymentFacts => ({
  request_id: 'request',
  execution_id: 'environment-7',
  organization: { id: 'o', name: 'Org' },
  project: { id: 'p', name: 'Shop' },
  environment: { id: 'e', name: 'prod', mode: 'PRODUCTION', cluster_name: 'local' },
  targets,
})
const target = (id: string, kind: string, reason: string | null = null) => ({
  id,
  name: id,
  kind,
  status: 'DEPLOYED',
  reason,
})

test('services are listed under their kind, and the first application has its own fields', () => {
  const payload = toPayload(
    'DEPLOYMENT_SUCCESSFUL',
    facts([target('db', 'database'), target('web', 'application'), target('api', 'application')]),
  )
  assert.equal(payload.application_id, 'web')
  assert.deepEqual(
    payload.applications.map(({ id }) => id),
    ['web', 'api'],
  )
  assert.deepEqual(payload.databases, [{ id: 'db', name: 'db', status: 'DEPLOYED' }])
  assert.deepEqual(
    [payload.id, payload.deployment_id, payload.current_status],
    ['request', 'environment-7', 'DEPLOYED'],
  )
})

test('without an application the first service represents the deployment, and without services the request does', () => {
  assert.equal(toPayload('DEPLOYMENT_STARTED', facts([target('db', 'database')])).application_id, 'db')
  assert.equal(toPayload('DEPLOYMENT_STARTED', facts([])).application_id, 'request')
})

test('reasons are listed line by line, truncated to a size that every receiver accepts', () => {
  const long = Array.from({ length: 80 }, (_, index) => `line ${index} ${'x'.repeat(2000)}`).join('\n')
  const { logs, current_status } = toPayload(
    'DEPLOYMENT_FAILURE',
    facts([target('web', 'application', `no\n\n${long}`)]),
  )
  assert.equal(current_status, 'DEPLOYMENT_ERROR')
  assert.equal(logs.length, 50)
  assert.equal(logs[0], 'web: no')
  assert.ok(logs.every((line) => line.length <= 1000))
})

test('an event of a deployment is written once, with the change or not at all', async (t) => {
  const { sql } = await testDatabase(t)
  const { environmentId, serviceId } = (await addPlace(sql)).service
  const id = newId()
  await sql`insert into workflow (id, kind, key, input) values (${id}, 'test', ${environmentId}, '{}')`
  await sql`
    insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller, created_at,
      updated_at)
    values (${id}, ${environmentId}, 'run-1', 'DEPLOY', 'API', 'test', 'test', now(), now())`
  await sql`
    insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      former_state, reason)
    values (${id}, ${serviceId}, 'application', 'web', '', 'stage', 1, 'BUILD_ERROR', 'READY', 'it did not build')`
  const now = new Date('2026-01-01T00:00:00Z')
  const undone = sql.begin(async (tx) => {
    await recordDeploymentEvent(tx, 'DEPLOYMENT_STARTED', id, now)
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  for (const type of ['DEPLOYMENT_STARTED', 'DEPLOYMENT_STARTED', 'DEPLOYMENT_FAILURE'] as const) {
    await recordDeploymentEvent(sql, type, id, now)
  }
  await recordDeploymentEvent(sql, 'DEPLOYMENT_STARTED', newId(), now)
  const rows = await sql`select type, payload_id, payload->'logs' as logs, dispatched_at from event order by seq`
  assert.deepEqual(
    [...rows],
    [
      { type: 'DEPLOYMENT_STARTED', payload_id: id, logs: ['web: it did not build'], dispatched_at: null },
      { type: 'DEPLOYMENT_FAILURE', payload_id: id, logs: ['web: it did not build'], dispatched_at: null },
    ],
  )
})
