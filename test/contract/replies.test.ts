import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Ajv } from 'ajv'
import { isDateTime } from '../../server/http/validate.ts'
import type { Objects } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { goodRequest, idsOf, operations, pathOf, publicOperations } from './requests.ts'

/** A good request of every operation: the code that clients expect, and a body that the reply's schema describes. */
const platform = await createPlatform({ after }, { works: true })
const { a, call } = platform
await platform.addRepository(a)

const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', isDateTime)
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)

/** An application that was deployed and printed something, so that what is read of it is not empty. */
const inUse: Objects = await platform.addObjects(a)
const path = `/application/${inUse.applicationId}`
assert.equal((await call(a.tokens.ADMIN, 'POST', `${path}/deploy`, {})).status, 202)
await until('the application is deployed', async () => {
  const { body } = await call(a.tokens.READ, 'GET', `${path}/status`, undefined, { 'x-state-dialect': 'full' })
  return Object(body).state === 'DEPLOYED'
})
platform.engine.print(inUse.applicationId, 'a line')
await until('its line is stored', async () => Object((await call(a.tokens.READ, 'GET', `${path}/log`)).body).results[0])
await until('the deployment was told to the webhook', async () => {
  const { body } = await call(
    a.tokens.READ,
    'GET',
    `/organization/${a.organizationId}/webhook/${inUse.webhookId}/event`,
  )
  return Object(body).results[0]
})

for (const [name, operation] of operations) {
  test(`${name}: answers a good request as promised`, async () => {
    const { body, prepare } = goodRequest(name)
    const fresh = operation.method === 'GET' ? inUse : await platform.addObjects(a)
    const objects = { ...fresh, ...(await prepare?.(platform, fresh)) }
    const answer = await call(a.tokens.ADMIN, operation.method, pathOf(operation, idsOf(operation, objects)), body)
    assert.equal(answer.status, operation.status, answer.text)
    const known = publicOperations.find((one) => one.name === name)
    if (known) assert.ok(known.success.includes(answer.status), `${answer.status}`)
    assert.equal(answer.headers['cache-control'], 'no-store')
    if (operation.status === 204 || operation.reply['type'] === 'null') return assert.equal(answer.text, '')
    if (operation.contentType)
      return assert.ok(String(answer.headers['content-type']).startsWith(operation.contentType))
    assert.match(String(answer.headers['content-type']), /^application\/json; charset=utf-8$/)
    const isValid = ajv.compile(operation.reply)
    assert.ok(isValid(answer.body), `${ajv.errorsText(isValid.errors)}: ${answer.text}`)
    const results = Object(answer.body).results
    // Nothing waits in the queue of an environment at rest.
    if (Array.isArray(results) && name !== 'listDeploymentRequestByEnvironmentId') assert.notEqual(results.length, 0)
  })
}

test('an operation of the public API has its name, method and path here, too', () => {
  for (const [name, { method, path }] of operations) {
    const known = publicOperations.find((one) => one.name === name)
    if (known) assert.deepEqual([method, path], [known.method, known.path], name)
    else
      assert.ok(
        !publicOperations.some((one) => one.method === method && one.path === path),
        `${name} is ${method} ${path}`,
      )
  }
})

test('what waits is in the queue of its environment', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  platform.builder.tell(applicationId, { type: 'hang' })
  await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/stop`)
  const queue = operations.find(([name]) => name === 'listDeploymentRequestByEnvironmentId')?.[1]
  const answer = await call(a.tokens.READ, 'GET', `/environment/${environmentId}/deploymentQueue`)
  assert.ok(queue && ajv.compile(queue.reply)(answer.body))
  const actions = Object(answer.body).results.map((request: { trigger_action: string }) => request.trigger_action)
  assert.deepEqual(actions, ['DEPLOY', 'STOP'])
  await call(a.tokens.DEPLOY, 'POST', `/environment/${environmentId}/cancelDeployment`)
})
