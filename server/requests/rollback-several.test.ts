import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** Rollbacks of several services by one request. The tests build on each other. */
const platform = await createPlatform({ after }, { works: true })
const { a, b, call, database } = platform
const { environmentId, applicationId, more } = a.objects
const containerId = more['containerId'] ?? ''
const services = [
  { id: applicationId, path: `/application/${applicationId}` },
  { id: containerId, path: `/container/${containerId}` },
] as const

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body)
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
const memories = () => Promise.all(services.map(async ({ path }) => (await send('GET', path)).body.memory))
const requests = () => database<{ execution_id: string; targets: string[] }[]>`
  select r.execution_id, array_agg(t.service_id::text order by t.service_id) as targets
  from deployment_request r join deployment_target t on t.request_id = r.id
  where r.environment_id = ${environmentId} group by r.id order by r.created_at`

/** Sets the memory of both services, deploys them together and returns the execution. */
async function release(memory: number): Promise<string> {
  for (const { path } of services) {
    const answer = await send('PUT', path, { memory })
    assert.equal(answer.status, 200, answer.text)
  }
  const wish = { applications: [{ application_id: applicationId }], containers: [{ id: containerId }] }
  const answer = await send('POST', `/environment/${environmentId}/service/deploy`, wish)
  assert.equal(answer.status, 202, answer.text)
  await settled()
  return (await requests()).at(-1)?.execution_id ?? ''
}
const settled = () =>
  until('nothing waits', async () => {
    const rows = await database`
      select status from deployment_request where environment_id = ${environmentId} and finished_at is null`
    return rows.length === 0
  })
const rollback = (...wanted: readonly (readonly [string, string])[]) =>
  send('POST', `/environment/${environmentId}/service/rollback`, {
    services: wanted.map(([id, execution_id]) => ({ id, execution_id })),
  })

await platform.addRepository(a, 'one')
const first = await release(256)
await release(512)

test('nothing changes if one of the services cannot be rolled back', async () => {
  const count = (await requests()).length
  const unknown = await rollback([applicationId, first], [containerId, 'no-execution'])
  assert.deepEqual([unknown.status, unknown.body.message.split(' ')[0]], [400, 'services[1].execution_id:'])
  const foreign = await rollback([applicationId, first], [b.objects.applicationId, first])
  assert.deepEqual([foreign.status, foreign.body.message.split(' ')[0]], [404, 'services[1].id:'])
  assert.equal((await rollback()).status, 400)
  assert.deepEqual(await memories(), [512, 512])
  assert.equal((await requests()).length, count)
})

test('services are rolled back in one deployment, with the settings of their versions', async () => {
  const count = (await requests()).length
  const answer = await rollback([applicationId, first], [containerId.toUpperCase(), first])
  assert.equal(answer.status, 202, answer.text)
  await settled()
  const all = await requests()
  assert.equal(all.length, count + 1)
  assert.deepEqual(all.at(-1)?.targets, [applicationId, containerId].toSorted())
  assert.deepEqual(await memories(), [256, 256])
  const running = await database`
    select r.settings->'memory' as memory from service s join release r on r.id = s.release_id
    where s.id in (${applicationId}, ${containerId})`
  assert.deepEqual(
    running.map(({ memory }) => memory),
    [256, 256],
  )
})
