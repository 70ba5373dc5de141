import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cleanup } from '../../server/database/testing.ts'
import { addTenant, type Tenant } from '../support/fixture.ts'
import { createPlatform, type Platform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Group N: whether one organization can keep the work of others from running. */

const places = 4

/** Three applications of a tenant, each in an environment of its own. */
async function addApplications(platform: Platform, tenant: Tenant) {
  const { call } = platform
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push((await platform.addObjects(tenant)).applicationId)
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const { status, text } = await call(tenant.tokens.ADMIN, method, path, body)
    assert.ok(status < 300, text)
  }
  return {
    ids,
    ship: async (change: string) => {
      await platform.addRepository(tenant, change)
      for (const id of ids) await send('POST', `/application/${id}/deploy`, {})
    },
    plan: async () => {
      const settings = { 'deployment.canary.steps': '10', 'deployment.canary.step_seconds': 3600 }
      for (const id of ids) await send('PUT', `/application/${id}/advancedSettings`, settings)
    },
    states: async () => {
      const rows = await platform.database<{ state: string }[]>`select state from service where id = any(${ids})`
      return rows.map(({ state }) => state).join()
    },
  }
}

const allOf = (state: string): string => [state, state, state].join()

const settings = { QUAYSIDE_PARALLEL_WORK: String(places), QUAYSIDE_PARALLEL_BUILDS: String(places) }

async function openCanaries(t: Cleanup) {
  const platform = await createPlatform(t, { works: true, settings })
  const attackers = [await addApplications(platform, platform.a), await addApplications(platform, platform.b)]
  for (const attacker of attackers) await attacker.ship('first')
  for (const attacker of attackers) {
    await until('its first versions run', async () => (await attacker.states()) === allOf('DEPLOYED'))
    await attacker.plan()
    await attacker.ship('second')
  }
  const shared = () => platform.router.routes.filter(({ canary }) => canary !== undefined)
  await until('all are in a canary step', () => shared().length === 6)
  const other = await addApplications(platform, await addTenant(platform.database, platform, 'C'))
  return { platform, attackers, shared, other }
}

test('N37 canaries of two organizations leave all places to the deployments of others', async (t) => {
  const { attackers, other } = await openCanaries(t)
  await other.ship('first')
  await until('all of the third one run', async () => (await other.states()) === allOf('DEPLOYED'))
  for (const attacker of attackers) assert.equal(await attacker.states(), allOf('DEPLOYING'))
})

test('N38 a canary that fails goes back within seconds while all places are taken', async (t) => {
  const { platform, attackers, shared, other } = await openCanaries(t)
  const { builder, database, router } = platform
  const fourth = await addApplications(platform, await addTenant(database, platform, 'D'))
  for (const one of [other, fourth]) {
    for (const id of one.ids) builder.tell(id, { type: 'hang' })
    await one.ship('first')
  }
  const building = () => database`
    select from workflow where state = 'running' and not is_resting and organization_id <> all (
      select organization_id from workflow where is_resting)`
  await until('all places are taken', async () => (await building()).length === places)
  router.canaries = shared().map(({ service, canary }) => ({
    source: 'one',
    service,
    release: canary?.release ?? '',
    requests: 100,
    failed: 90,
    slow: 0,
  }))
  const limit = { limitMs: 5000 }
  await until('no version has a share', () => shared().length === 0, limit)
  for (const attacker of attackers)
    await until('they went back', async () => (await attacker.states()) === allOf('DEPLOYMENT_ERROR'), limit)
  const running = () => database`select from workflow where state = 'running'`
  await until('only the builds of others run', async () => (await running()).length === places)
  for (const id of [...other.ids, ...fourth.ids]) builder.tell(id, { type: 'succeed' })
})
