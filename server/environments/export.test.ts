import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canaryOf } from '../../test/support/fixture.ts'
import { tokenWithRole } from '../../test/support/people.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { unzip } from '../lib/testing-unzip.ts'

const platform = await createPlatform({ after })
const { a, app } = platform
const { environmentId, more } = a.objects

async function exported(token: string, query = ''): Promise<Record<string, string>> {
  const answer = await app.inject({
    method: 'GET',
    url: `/environment/${environmentId}/terraformExport${query}`,
    headers: { host: 'localhost', authorization: `Bearer ${token}` },
  })
  assert.equal(answer.statusCode, 200, answer.payload)
  assert.equal(answer.headers['content-type'], 'application/octet-stream')
  return unzip(answer.rawPayload)
}

test('an export has the stages, the services of every kind and their variables', async () => {
  const { 'main.tf': main = '', 'variables.tf': variables = '', ...rest } = await exported(a.tokens.READ)
  assert.deepEqual(rest, {})
  for (const type of [
    'environment',
    'deployment_stage',
    'application',
    'container',
    'database',
    'job',
    'helm',
    'terraform_service',
  ])
    assert.match(main, new RegExp(`^resource "qovery_${type}" "\\w+" \\{$`, 'm'), type)
  assert.match(main, /is_after = qovery_deployment_stage\.\w+\.id/)
  assert.match(main, /key = "PLAIN_SERVICE"\n\s+value = "visible"/)
  assert.match(main, /key = "HIDDEN_SERVICE"\n\s+value = var\.\w+_hidden_service/)
  assert.match(variables, /variable "\w+_hidden_service" \{\n {2}type\s+= string\n {2}sensitive = true/)
  assert.ok(more['containerId'])
})

test('an export includes secrets only when an admin requests them', async () => {
  const canary = canaryOf(a)
  for (const files of [
    await exported(a.tokens.ADMIN),
    await exported(a.tokens.READ, '?exportSecrets=true'),
    await exported(a.tokens.WRITE, '?exportSecrets=true'),
  ])
    assert.ok(!JSON.stringify(files).includes(canary))
  const { 'main.tf': main = '', 'terraform.tfvars': texts = '' } = await exported(a.tokens.ADMIN, '?exportSecrets=true')
  assert.ok(!main.includes(canary))
  assert.match(texts, new RegExp(`^\\w+_hidden_service = "${canary}"$`, 'm'))
  assert.match(texts, new RegExp(`^\\w+_hidden_environment = "${canary}"$`, 'm'))
})

test('an export of a project has the environments whose modes the caller may read, and no secret', async () => {
  const { projectId } = a.objects
  const address = { host: 'localhost', authorization: `Bearer ${a.tokens.ADMIN}` }
  const production = await app.inject({
    ...{ method: 'POST', url: `/project/${projectId}/environment`, headers: address },
    payload: { name: 'live', mode: 'PRODUCTION' },
  })
  assert.equal(production.statusCode, 201, production.payload)
  const filesFor = async (token: string) => {
    const headers = { ...address, authorization: `Bearer ${token}` }
    const answer = await app.inject({ method: 'GET', url: `/project/${projectId}/terraformExport`, headers })
    assert.equal(answer.statusCode, 200, answer.payload)
    return unzip(answer.rawPayload)
  }
  const files = await filesFor(a.tokens.ADMIN)
  assert.deepEqual(Object.keys(files).toSorted(), [
    'environment_deployed_1.tf',
    'environment_env_1.tf',
    'environment_live.tf',
    'main.tf',
    'variables.tf',
  ])
  assert.match(files['environment_live.tf'] ?? '', /project_id = qovery_project\.\w+\.id\n {2}cluster_id/)
  assert.match(files['environment_env_1.tf'] ?? '', /^resource "qovery_application" "env_1_app_1" \{$/m)
  assert.ok(!JSON.stringify(files).includes(canaryOf(a)))
  const { customRoles } = platform.rooms
  const { id } = await customRoles.create(a.organizationId, { name: 'reads development' })
  const modes = ['DEVELOPMENT', 'PREVIEW', 'PRODUCTION', 'STAGING'] as const
  const permissions = modes.map((mode) => ({
    environment_type: mode,
    permission: mode === 'DEVELOPMENT' ? ('VIEWER' as const) : ('NO_ACCESS' as const),
  }))
  await customRoles.edit(a.organizationId, id, {
    ...{ name: 'reads development', cluster_permissions: [] },
    project_permissions: [{ project_id: projectId, is_admin: false, permissions }],
  })
  const guest = await tokenWithRole(platform, a.organizationId, id)
  assert.deepEqual(Object.keys(await filesFor(guest)).toSorted(), [
    'environment_deployed_1.tf',
    'environment_env_1.tf',
    'main.tf',
    'variables.tf',
  ])
})
