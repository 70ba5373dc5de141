import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

const platform = await createPlatform({ after }, { works: true })
const { a, call, database } = platform
await platform.addRepository(a)

const put = (path: string, body: unknown, token = a.tokens.WRITE) => call(token, 'PUT', path, body)

test('a dry run validates a change, reports its effect, and changes nothing', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `${path}/deploy`, {})).status, 202)
  await until('it is deployed', async () => {
    const [row] = await database`select state from service where id = ${applicationId}`
    return row?.['state'] === 'DEPLOYED'
  })
  await call(a.tokens.WRITE, 'POST', `${path}/environmentVariable`, { key: 'NEW_ONE', value: 'x' })
  await call(a.tokens.WRITE, 'POST', `${path}/secret`, { key: 'HIDDEN_ONE', value: 'secret text' })
  await until('its deployment has ended', async () => {
    const rows = await database`select from workflow where key = ${environmentId} and state in ('queued', 'running')`
    return rows.length === 0
  })
  const settings = () => database`select settings, version, name from service where id = ${applicationId}`
  const before = await settings()
  const answer = await put(`${path}?dry_run=true`, { cpu: 250, description: 'new' })
  assert.equal(answer.status, 200, answer.text)
  const { changed_settings, services, refused } = Object(answer.body)
  assert.deepEqual([changed_settings, refused, services.length], [['cpu', 'description'], null, 1])
  assert.deepEqual(services[0].changed_settings, ['cpu'])
  assert.deepEqual(services[0].changed_variables, ['HIDDEN_ONE', 'NEW_ONE'])
  assert.deepEqual(
    [services[0].effect, services[0].branch, services[0].is_first_deployment],
    ['RESTART', 'main', false],
  )
  assert.doesNotMatch(answer.text, /secret text/)
  assert.deepEqual(await settings(), before)
  const rows = await database`select from audit_event where request_id = ${String(answer.headers['x-request-id'])}`
  assert.equal(rows.length, 0)
  assert.equal((await put(`${path}?dry_run=true`, { cpu: 1_000_000 })).status, 400)
  assert.equal((await put(`${path}?dry_run=true`, { cpu: 250 }, a.tokens.READ)).status, 403)
  const changed = await put(`${path}?dry_run=false`, { cpu: 250 })
  assert.deepEqual([changed.status, Object(changed.body).cpu], [200, 250])
})

test('a dry run of a deployment lists the services, and reports why it would be rejected', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  const path = `/environment/${environmentId}/deploy?dry_run=true`
  await until('all that was recorded has its place in the chain', async () => {
    const open = await database`select from audit_event where sequence is null limit 1`
    return open.length === 0
  })
  const before = await platform.fingerprint()
  const answer = await call(a.tokens.DEPLOY, 'POST', path)
  assert.equal(answer.status, 200, answer.text)
  const { services, refused } = Object(answer.body)
  const first = services.find((service: { service_id: string }) => service.service_id === applicationId)
  assert.deepEqual([first.effect, first.is_first_deployment, first.skipped, refused], ['FIRST_START', true, null, null])
  const { deployment_request, workflow, service, audit_event } = await platform.fingerprint()
  assert.deepEqual({ ...before, deployment_request, workflow, service, audit_event }, before)
  await database`update service set copying = id where id = ${applicationId}`
  const copied = Object((await call(a.tokens.DEPLOY, 'POST', path)).body)
  const left = copied.services.find((service: { service_id: string }) => service.service_id === applicationId)
  assert.deepEqual(
    [left.effect, left.skipped],
    ['SKIP', 'It is being copied and is skipped until its data are complete.'],
  )
  await database`update service set copying = null where id = ${applicationId}`
  await database`update service set is_skipped = true where environment_id = ${environmentId}`
  const nothing = await call(a.tokens.DEPLOY, 'POST', path)
  assert.match(Object(nothing.body).refused, /has nothing to deploy/)
  assert.match(Object(nothing.body).services[0].skipped, /^It is skipped/)
  assert.equal((await call(a.tokens.READ, 'POST', path)).status, 403)
})
