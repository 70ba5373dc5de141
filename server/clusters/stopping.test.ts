import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

test('a stopped cluster runs nothing, takes no deployment, and continues after its own', async (t) => {
  const { a, call, addRepository, addObjects } = await createPlatform(t, { works: true })
  await addRepository(a)
  const { applicationId } = await addObjects(a)
  const path = `/application/${applicationId}`
  const cluster = `/organization/${a.organizationId}/cluster/${a.clusterId}`
  const post = (place: string) => call(a.tokens.ADMIN, 'POST', place, {})
  const isIn = (place: string, member: string, wanted: string) =>
    until(`${place} is ${wanted}`, async () => {
      const { body } = await call(a.tokens.READ, 'GET', `${place}/status`, undefined, { 'x-state-dialect': 'full' })
      return Object(body)[member] === wanted
    })
  assert.equal((await post(`${path}/deploy`)).status, 202)
  await isIn(path, 'state', 'DEPLOYED')

  assert.equal((await post(`${cluster}/stop`)).status, 202)
  const refused = await post(`${path}/deploy`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /is stopped\. Deploy the cluster first/)
  await isIn(cluster, 'status', 'STOPPED')
  await isIn(path, 'state', 'STOPPED')

  assert.equal((await post(`${cluster}/deploy`)).status, 200)
  await isIn(cluster, 'status', 'DEPLOYED')
  await isIn(path, 'state', 'STOPPED')
  assert.equal((await post(`${path}/deploy`)).status, 202)
  await isIn(path, 'state', 'DEPLOYED')
})
