import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../server/lib/id.ts'
import { createPlatform } from '../support/platform.ts'

// Ids in bodies are compared without case. A message shows them as they were written.

const { a, call } = await createPlatform({ after })
const { ADMIN } = a.tokens
const { environmentId, projectId, applicationId } = a.objects
const unknown = newId().toUpperCase()
const role = await call(ADMIN, 'POST', `/organization/${a.organizationId}/customRole`, { name: 'Support' })
const application = await call(ADMIN, 'GET', `/application/${applicationId}`)

const requests: Readonly<Record<string, readonly [method: string, path: string, body: unknown]>> = {
  'the project of a copy': ['POST', `/environment/${environmentId}/clone`, { name: 'copy', project_id: unknown }],
  'a deployment rule': [
    'PUT',
    `/project/${projectId}/deploymentRule/order`,
    { project_deployment_rule_ids_in_order: [unknown] },
  ],
  'a group of labels': [
    'PUT',
    `/application/${applicationId}`,
    { ...Object(application.body), labels_groups: [{ id: unknown }] },
  ],
  'the cluster of a role': [
    'PUT',
    `/organization/${a.organizationId}/customRole/${Object(role.body).id}`,
    { name: 'Support', project_permissions: [], cluster_permissions: [{ cluster_id: unknown, permission: 'VIEWER' }] },
  ],
  'the project of a role': [
    'PUT',
    `/organization/${a.organizationId}/customRole/${Object(role.body).id}`,
    { name: 'Support', cluster_permissions: [], project_permissions: [{ project_id: unknown, is_admin: true }] },
  ],
}

for (const [what, [method, path, body]] of Object.entries(requests)) {
  test(`a message about ${what} shows the id as it was written`, async () => {
    const { status, text } = await call(ADMIN, method, path, body)
    assert.equal(status, 404, text)
    assert.ok(text.includes(unknown), text)
  })
}
