import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { testVault } from '../vault/testing.ts'
import { builtInId } from './built-in-id.ts'
import { createSecret, listVariables, variableTarget } from './index.ts'
import { addPlace } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
const place = await addPlace(database)
const find = async (id: string) => [...(await variableTarget(database, id))]

test('a variable is found with its owners', async () => {
  const { organizationId, projectId, environmentId, serviceId, serviceName } = place.service
  for (const [scope, environment, service] of [
    [place.project, null, null],
    [place.environment, environmentId, null],
    [place.service, environmentId, serviceId],
  ] as const) {
    const { id } = await createSecret(context, scope, { key: 'A', value: 'x' })
    const [found, ...others] = await find(id)
    assert.deepEqual(others, [])
    assert.partialDeepStrictEqual(found, {
      id,
      organization_id: organizationId,
      project_id: projectId,
      environment_id: environment,
      environment_mode: environment && 'STAGING',
      service_id: service,
      service_kind: service && 'application',
      service_name: service && serviceName,
      is_secret: true,
    })
  }
})

test('a built-in variable is found with the object that it describes', async () => {
  const builtIns = (await listVariables(context, place.service)).filter(({ scope }) => scope === 'BUILT_IN')
  assert.ok(builtIns.length > 10)
  for (const { id, key, service_id } of builtIns) {
    const [found, ...others] = await find(id)
    assert.deepEqual(others, [], key)
    assert.partialDeepStrictEqual(found, { id, project_id: place.project.projectId, is_secret: null })
    assert.equal(found?.['service_id'], service_id ?? null, key)
  }
})

test('unknown ids find nothing', async () => {
  for (const id of [newId(), builtInId(newId(), 'A'), '00000000-0000-0000-0000-000000000000'])
    assert.deepEqual(await find(id), [])
})
