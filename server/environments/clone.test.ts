import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** Copies of environments, through the API. */
const platform = await createPlatform({ after }, { works: true })
const { a, b, call, database } = platform

const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
const clone = (environmentId: string, body: object) => ask('POST', `/environment/${environmentId}/clone`, body)
const isWhole = (id: string) =>
  until('the copy is whole', async () => {
    const [row] = await database`select from environment where id = ${id} and copying is null`
    return row !== undefined
  })
const servicesOf = async (id: string) => (await ask('GET', `/environment/${id}/services`)).results
const named = (list: readonly { name: string }[], name: string) => {
  const found = list.find((one) => one.name === name)
  assert.ok(found, name)
  return Object(found)
}

test('a copy has the stages, services, variables, secrets and rule of its original and does not run', async () => {
  const { environmentId, applicationId, more } = a.objects
  const [rule, stages] = [
    more['environment.deploymentRuleId'],
    (await ask('GET', `/environment/${environmentId}/deploymentStage`)).results,
  ]
  await ask('PUT', `/environment/${environmentId}/deploymentRule/${rule}`, {
    auto_stop: true,
    timezone: 'Asia/Tokyo',
    start_time: '1970-01-01T09:00:00.000Z',
    stop_time: '1970-01-01T18:00:00.000Z',
    weekdays: ['MONDAY'],
  })
  const smoke = stages.at(-1)
  await ask('PUT', `/deploymentStage/${smoke.id}/moveBefore/${stages[0].id}`)
  await ask('PUT', `/deploymentStage/${smoke.id}/service/${applicationId}`, { is_skipped: true })
  await database`update service set state = 'DEPLOYED', last_deployment_date = now(), release_id = id
    where id = ${applicationId}`
  const announced = `QOVERY_APPLICATION_Z${applicationId.slice(0, 8).toUpperCase()}_HOST_INTERNAL`
  await ask('POST', `/environment/${environmentId}/environmentVariable`, {
    key: 'WEB',
    value: `http://{{${announced}}}`,
  })

  const copy = await clone(environmentId, { name: 'The copy', mode: 'STAGING' })
  assert.deepEqual([copy.name, copy.mode, copy.cluster_id], ['The copy', 'STAGING', a.clusterId])
  await isWhole(copy.id)

  const [originals, copies] = [await servicesOf(environmentId), await servicesOf(copy.id)]
  assert.deepEqual(
    copies.map(({ name }: { name: string }) => name),
    originals.map(({ name }: { name: string }) => name),
  )
  const app = copies.find(
    ({ name }: { name: string }) => name === originals.find(({ id }: { id: string }) => id === applicationId).name,
  )
  assert.equal((await ask('GET', `/application/${app.id}/status`)).service_deployment_status, 'NEVER_DEPLOYED')
  const ofCopy = (await ask('GET', `/environment/${copy.id}/deploymentStage`)).results
  const order = (await ask('GET', `/environment/${environmentId}/deploymentStage`)).results
  assert.deepEqual(
    ofCopy.map(({ name }: { name: string }) => name),
    order.map(({ name }: { name: string }) => name),
  )
  const placed = ofCopy[0].services.find(({ service_id }: { service_id: string }) => service_id === app.id)
  assert.equal(placed.is_skipped, true)

  const variables = (await ask('GET', `/environment/${copy.id}/environmentVariable`)).results
  const web = variables.find(({ key }: { key: string }) => key === 'WEB')
  assert.equal(web.value, `http://{{QOVERY_APPLICATION_Z${app.id.slice(0, 8).toUpperCase()}_HOST_INTERNAL}}`)
  const secrets = (await ask('GET', `/application/${app.id}/secret`)).results
  assert.ok(secrets.some(({ key }: { key: string }) => key === 'HIDDEN_SERVICE'))
  const ruleOfCopy = await ask('GET', `/environment/${copy.id}/deploymentRule`)
  assert.deepEqual([ruleOfCopy.timezone, ruleOfCopy.auto_stop, ruleOfCopy.weekdays], ['Asia/Tokyo', true, ['MONDAY']])
})

test('a copy goes to another project, with the rule of that project where that is wished', async () => {
  const { environmentId } = a.objects
  const other = await ask('POST', `/organization/${a.organizationId}/project`, { name: 'other' })
  await ask('POST', `/project/${other.id}/deploymentRule`, {
    name: 'previews',
    mode: 'PREVIEW',
    cluster_id: a.clusterId,
    timezone: 'Europe/Paris',
    start_time: '1970-01-01T09:00:00.000Z',
    stop_time: '1970-01-01T18:00:00.000Z',
    weekdays: ['FRIDAY'],
    wildcard: 'pr-*',
  })
  const copy = await clone(environmentId, { name: 'pr-1', project_id: other.id, apply_deployment_rule: true })
  assert.equal(copy.project.id, other.id)
  assert.equal(copy.mode, 'PREVIEW')
  assert.equal((await ask('GET', `/environment/${copy.id}/deploymentRule`)).timezone, 'Europe/Paris')
  await isWhole(copy.id)
  assert.equal((await servicesOf(copy.id)).length, (await servicesOf(environmentId)).length)
})

test('a copy is rejected and leaves nothing when its name is taken or its place belongs to others', async () => {
  const { environmentId, projectId } = a.objects
  const { name } = named(
    [await ask('GET', `/environment/${environmentId}`)],
    (await ask('GET', `/environment/${environmentId}`)).name,
  )
  const count = async () => (await ask('GET', `/project/${projectId}/environment`)).results.length
  const before = await count()
  const path = `/environment/${environmentId}/clone`
  const refused = async (body: object) => {
    const answer = await call(a.tokens.ADMIN, 'POST', path, body)
    return [answer.status, Object(answer.body).message]
  }
  assert.equal((await refused({ name: name.toUpperCase() }))[0], 409)
  assert.deepEqual(await refused({ name: 'x', project_id: b.objects.projectId }), [
    404,
    `project_id: the project ${b.objects.projectId} does not exist.`,
  ])
  assert.deepEqual(await refused({ name: 'x', cluster_id: b.clusterId }), [
    404,
    `cluster_id: the cluster ${b.clusterId} does not exist.`,
  ])
  assert.equal(await count(), before)
})

test('a copy that fails leaves no environment', async () => {
  const { environmentId } = await platform.addObjects(a)
  // The source's secrets can no longer be decrypted.
  await database`update variable set sealed_value = 'v1.broken' where environment_id = ${environmentId}
    and sealed_value is not null`
  const { id } = await clone(environmentId, { name: 'never' })
  await until(
    'the environment is gone',
    async () =>
      (
        await database`select from environment
    where id = ${id}`
      ).length === 0,
  )
  assert.equal((await call(a.tokens.ADMIN, 'GET', `/environment/${id}`)).status, 404)
  const [left] = await database`select count(*)::int as n from service where environment_id = ${id}`
  assert.equal(left?.['n'], 0)
})
