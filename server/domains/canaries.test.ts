import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addCanaryStep } from '../../test/support/canary-step.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { findCanary } from './canary-store.ts'
import { setEndpoints } from './route-store.ts'
import { readRouteMarks, readTable } from './route-table-store.ts'

const { a, b, call, database, addObjects } = await createPlatform({ after })

const shareOf = async (service: string) =>
  (await readTable(database)).routes.find((route) => route.service === service)?.canary
const marks = async () => (await readRouteMarks(database)).map(({ mark }) => mark).join()

async function serviceInStep(): Promise<string> {
  const { applicationId } = await addObjects(a)
  const body = { ports: [{ internal_port: 80, publicly_accessible: true, protocol: 'HTTP' }], healthchecks: {} }
  assert.equal((await call(a.tokens.ADMIN, 'PUT', `/application/${applicationId}`, body)).status, 200)
  await addCanaryStep(database, applicationId)
  return applicationId
}

test('a route has the share of a new version only while the request of that version runs', async () => {
  const service = await serviceInStep()
  const before = await marks()
  const share = await shareOf(service)
  assert.equal(share?.percent, 25)
  assert.deepEqual(share?.endpoints, [{ address: '192.0.2.1', port: 80 }])
  await database`update canary set endpoints = '[{"address": "192.0.2.1", "port": 81}]' where service_id = ${service}`
  assert.equal(await shareOf(service), undefined)
  await database`update canary set endpoints = '[{"address": "192.0.2.1", "port": 80}]' where service_id = ${service}`
  assert.equal(await marks(), before)
  await database`
    update deployment_request set status = 'ERROR', finished_at = now()
    where id = (select request_id from canary where service_id = ${service})`
  assert.equal(await shareOf(service), undefined)
  assert.notEqual(await marks(), before)
})

test('the endpoints of the previous version do not change the share', async () => {
  const service = await serviceInStep()
  const share = await shareOf(service)
  await setEndpoints(database, service, null, [{ address: '192.0.2.9', port: 80 }], new Date())
  assert.deepEqual(await shareOf(service), share)
})

test('the step of a service is read with its requests, and is ended by hand', async () => {
  const service = await serviceInStep()
  const path = `/service/${service}/canary`
  const { status, body } = await call(a.tokens.READ, 'GET', path)
  const { deployment_request_id, ...canary } = Object(body).canary
  assert.equal(status, 200)
  assert.deepEqual(canary, {
    steps: [5, 25, 50],
    step: 2,
    percent: 25,
    step_started_at: '2026-01-01T00:00:00.000Z',
    step_ends_at: '2026-01-01T00:01:00.000Z',
    requests: 220,
    failed: 2,
    slow: 0,
    max_error_percent: 5,
    max_latency_ms: null,
    max_slow_percent: 100,
    is_promoted: false,
  })
  assert.equal((await call(a.tokens.READ, 'POST', `${path}/promote`)).status, 403)
  assert.equal((await call(b.tokens.ADMIN, 'POST', `${path}/promote`)).status, 404)
  assert.equal((await findCanary(database, service, deployment_request_id))?.is_promoted, false)
  const promoted = await call(a.tokens.DEPLOY, 'POST', `${path}/promote`)
  assert.deepEqual([promoted.status, Object(promoted.body).canary.is_promoted], [202, true])
  await database`update deployment_request set status = 'CANCELING' where id = ${deployment_request_id}`
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `${path}/promote`)).status, 409)
  assert.deepEqual((await call(a.tokens.READ, 'GET', path)).body, { canary: null })
})
