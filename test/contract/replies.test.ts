import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Ajv } from 'ajv'
import { isDateTime } from '../../server/http/validate.ts'
import type { Objects } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { readPublishedTypes } from './published-types.ts'
import {
  assertError,
  clientName,
  goodRequest,
  idsOf,
  operations,
  pathOf,
  publicOperations,
  queryOf,
} from './requests.ts'

/**
 * A good request to every operation: the answer has the status that clients expect, and its body
 * matches the schema.
 */
const platform = await createPlatform(
  { after },
  {
    works: true,
    settings: {
      QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      QUAYSIDE_OPENTOFU_IMAGE: 'opentofu/opentofu:1.12.6',
    },
  },
)
const { a, call } = platform
await platform.addRepository(a)

const ajv = new Ajv({ strict: false, allErrors: true })
ajv.addFormat('uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/)
ajv.addFormat('date-time', isDateTime)
ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)

/** A deployed application that has printed a line, so that reads of it are not empty. */
const inUse: Objects = await platform.addObjects(a)
const path = `/application/${inUse.applicationId}`
assert.equal((await call(a.tokens.ADMIN, 'POST', `${path}/deploy`, {})).status, 202)
await until('the application is deployed', async () => {
  const { body } = await call(a.tokens.READ, 'GET', `${path}/status`, undefined, { 'x-state-dialect': 'full' })
  return Object(body).state === 'DEPLOYED'
})
platform.engine.print(inUse.applicationId, 'a line')
await until('its line is stored', async () => Object((await call(a.tokens.READ, 'GET', `${path}/log`)).body).results[0])
await until('the webhook got the deployment', async () => {
  const { body } = await call(
    a.tokens.READ,
    'GET',
    `/organization/${a.organizationId}/webhook/${inUse.webhookId}/event`,
  )
  return Object(body).results[0]
})

/**
 * Answers that follow the specification although the published client does not declare these
 * values.
 */
const deviations: Readonly<Record<string, RegExp>> = {
  // RUNNING, STOPPED and ERROR for clients that do not declare more states.
  getApplicationStatus: /^\$\.state: /,
  // The client declares only BOOLEAN, and features of other types exist.
  ...Object.fromEntries(
    ['listAWSFeatures', 'listScalewayFeatures', 'listGcpFeatures'].map((name) => [
      name,
      /^\$\.results\[\d+\]\.value_type: /,
    ]),
  ),
  // A list, although the client declares one of its entries.
  listEnvironmentLogs: /^\$\.(type|timestamp|details): /,
  // The answer repeats the sent value.
  createOrganizationWebhook: /^\$\.events\[\d+\]: /,
  editOrganizationWebhook: /^\$\.events\[\d+\]: /,
  // The state of a backup. The client declares the state of a service here, and no program reads
  // it.
  listDatabaseBackup: /^\$\.results\[\d+\]\.status\./,
  addBackupDatabase: /^\$\.status\./,
}
/** Members that Go clients require; they accept null. */
const nullPath = /\.(aliased|overridden)_(variable|secret)\.mount_path: is missing$/
const types = readPublishedTypes()
const undeclared = (name: string, body: unknown): string[] =>
  types
    .problemsOf(clientName(name), body)
    .filter((problem) => !deviations[name]?.test(problem) && !nullPath.test(problem))

for (const [name, operation] of operations) {
  test(`${name}: answers a good request as declared`, async () => {
    const good = goodRequest(name)
    const { prepare, refused } = good
    // An organization has at most fifty.
    await platform.database`delete from webhook where organization_id = ${a.organizationId}
      and id <> ${inUse.webhookId}`
    const fresh = operation.method === 'GET' ? inUse : await platform.addObjects(a)
    const objects = { ...fresh, ...(await prepare?.(platform, fresh)) }
    const { body, query } = goodRequest(name, objects)
    const path = `${pathOf(operation, idsOf(operation, objects))}${queryOf({ ...good, ...(query && { query }) })}`
    const token = (await good.credential?.(platform, objects)) ?? a.tokens.ADMIN
    const answer = await call(token, operation.method, path, body)
    if (refused) {
      assertError(answer, refused.status)
      return assert.match(answer.body.message, refused.reason)
    }
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
    if (known) assert.deepEqual(undeclared(name, answer.body), [])
    const results = Object(answer.body).results
    // The queue of a settled environment is empty.
    if (!Array.isArray(results) || name === 'listDeploymentRequestByEnvironmentId') return
    if (good.empty) assert.equal(results.length, 0)
    else assert.notEqual(results.length, 0)
  })
}

test('an operation of the public API has the same name, method and path here', () => {
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

test('a waiting request is in the queue of its environment', async () => {
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
