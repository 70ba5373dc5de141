import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { type Place, placeRefusal } from './restriction.ts'

const demo: Place = { cluster: 'local', hasEngine: true, isStopped: false, isDemo: true, restriction: null }
const managed: Place = { ...demo, cluster: 'far', isDemo: false }

test('every action is allowed when the cluster has an engine and no restriction applies', () => {
  assert.equal(placeRefusal('DEPLOY', demo), undefined)
  assert.equal(placeRefusal('DEPLOY', managed), undefined)
  assert.equal(placeRefusal('DEPLOY', { ...managed, hasEngine: false })?.code, 'invalid')
})

test('a trial without a card may use only the demo cluster', () => {
  const restriction = 'NO_CREDIT_CARD'
  assert.equal(placeRefusal('DEPLOY', { ...demo, restriction }), undefined)
  assert.match(placeRefusal('DEPLOY', { ...managed, restriction })?.message ?? '', /NO_CREDIT_CARD.*"far"/)
})

test('every other restriction forbids the actions that start something, and no others', () => {
  for (const restriction of ['OTHER', '', 'no_credit_card']) {
    for (const place of [demo, managed]) {
      for (const action of ['DEPLOY', 'RESTART'] as const)
        assert.equal(placeRefusal(action, { ...place, restriction })?.code, 'conflict')
      for (const action of ['STOP', 'DELETE', 'UNINSTALL'] as const)
        assert.equal(placeRefusal(action, { ...place, restriction, hasEngine: false }), undefined)
    }
  }
})

test('a deployment is rejected while the organization or the cluster forbids it', async (t) => {
  const platform = await createPlatform(t)
  const { a, call, database } = platform
  const { environmentId, applicationId } = a.objects
  const paths = [`/application/${applicationId}/deploy`, `/environment/${environmentId}/deploy`]
  const deploy = async (path: string) => {
    const { status, body } = await call(a.tokens.DEPLOY, 'POST', path, {})
    return { status, message: String(Object(body).message) }
  }
  const restrict = (word: string | null) =>
    database`update organization set billing_deployment_restriction = ${word} where id = ${a.organizationId}`

  await restrict('UNPAID')
  for (const path of paths) {
    const { status, message } = await deploy(path)
    assert.equal(status, 409)
    assert.match(message, /restricted \(UNPAID\)/)
  }
  await restrict('NO_CREDIT_CARD')
  for (const path of paths) assert.equal((await deploy(path)).status, 202)
  await restrict(null)
  for (const path of paths) assert.equal((await deploy(path)).status, 202)

  for (const state of ['STOP_QUEUED', 'STOPPING', 'STOPPED']) {
    await database`update cluster set status = ${state} where id = ${a.clusterId}`
    for (const path of paths) {
      const { status, message } = await deploy(path)
      assert.equal(status, 409)
      assert.match(message, /is stopped\. Deploy the cluster first/)
    }
    const { status } = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/stop`, {})
    assert.equal(status, 202)
  }
  await database`update cluster set status = 'DEPLOYED' where id = ${a.clusterId}`

  await database`update cluster set engine = null where id = ${a.clusterId}`
  for (const path of paths) {
    const { status, message } = await deploy(path)
    assert.equal(status, 400)
    assert.match(message, /no engine/)
  }
})
