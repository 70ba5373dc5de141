import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeOf } from './change-events.ts'

const entry = {
  ...{ event_type: 'UPDATE', target_type: 'CONTAINER', target_id: 's', sub_target_type: null },
  ...{ organization_id: 'o', project_id: 'p', environment_id: 'e' },
}
const at = { organizationId: 'o', subject: 'RECORD' }

test('a change is reported at the level that decides who may read it', () => {
  const service = { ...at, level: 'service', environmentId: 'e', serviceId: 's', kind: 'container' }
  assert.deepEqual(changeOf(entry), service)
  assert.deepEqual(changeOf({ ...entry, sub_target_type: 'SECRET' }), { ...service, subject: 'SECRET' })
  const environment = { ...entry, target_type: 'ENVIRONMENT' }
  assert.deepEqual(changeOf(environment), { ...at, level: 'environment', environmentId: 'e' })
  const project = { ...environment, target_type: 'PROJECT', environment_id: null }
  assert.deepEqual(changeOf(project), { ...at, level: 'project', projectId: 'p' })
  const organization = { ...project, target_type: 'CLUSTER', target_id: 'c', project_id: null }
  assert.deepEqual(changeOf(organization), { ...at, level: 'cluster', clusterId: 'c' })
  const webhook = { ...organization, target_type: 'WEBHOOK' }
  assert.deepEqual(changeOf(webhook), { ...at, level: 'organization', subject: 'WEBHOOK' })
})

test('requests of deployments and looks are not changes of records, and a replay of a webhook is', () => {
  for (const event_type of ['TRIGGER_DEPLOY', 'TRIGGER_CANCEL', 'SHELL', 'EXPORT']) {
    assert.equal(changeOf({ ...entry, event_type }), undefined)
  }
  const replay = { ...entry, event_type: 'TRIGGER_REDEPLOY', target_type: 'WEBHOOK' }
  assert.equal(changeOf({ ...replay, environment_id: null, project_id: null })?.subject, 'WEBHOOK')
})
