import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import { addEnvironment, addPlace, addService, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const vault = await testVault({ after }, database)
const context = { database, vault, clock: systemClock }
let place: Place

beforeEach(async () => {
  place = await addPlace(database)
})

const usesAt = (
  scope: Parameters<typeof variables.listVariableUses>[1],
  isVisible = (_mode: string): boolean => true,
) => variables.listVariableUses(database, scope, isVisible)
const builtInOf = async (scope: variables.Scope, end: string) => {
  const found = (await variables.listVariables(context, scope)).find(({ key }) => key.endsWith(end))
  assert.ok(found)
  return found
}

test('lists aliases, overrides and references with their owners, and the links between services', async () => {
  const cart = await addService(database, place.environment)
  const host = await builtInOf({ ...place.environment }, `Z${cart.serviceId.slice(0, 8).toUpperCase()}_HOST_INTERNAL`)
  const base = await variables.createVariable(context, place.project, { key: 'BASE', value: 'x' })
  const text = `{{BASE}} {{BASE}} {{${host.key}}} {{UNKNOWN}} {{9}}`
  const url = await variables.createVariable(context, place.service, { key: 'URL', value: text })
  const alias = await variables.standOnVariable(context, place.environment, base.id, { type: 'ALIAS', key: 'SECOND' })
  const uses = await usesAt(place.environment)
  const byService = {
    environment_id: place.environment.environmentId,
    environment_name: `environment ${place.environment.environmentId}`,
    service_id: place.service.serviceId,
    service_name: place.service.serviceName,
    service_type: 'APPLICATION',
  }
  const named = uses.results.map(({ variable_id, kind, used_by: { id, scope } }) => [variable_id, kind, id, scope])
  assert.deepEqual(
    named.toSorted(),
    [
      [base.id, 'ALIAS', alias.id, 'ENVIRONMENT'],
      [base.id, 'REFERENCE', url.id, 'APPLICATION'],
      [host.id, 'REFERENCE', url.id, 'APPLICATION'],
    ].toSorted(),
  )
  assert.partialDeepStrictEqual(uses.results.find(({ used_by }) => used_by.id === url.id)?.used_by, byService)
  const link = { service_id: place.service.serviceId, refers_to_id: cart.serviceId, keys: ['URL'] }
  assert.deepEqual([uses.service_links, uses.is_complete], [[link], true])
})

test('does not read the text of a secret', async () => {
  const base = await variables.createSecret(context, place.project, { key: 'BASE', value: 'x' })
  await variables.createSecret(context, place.service, { key: 'URL', value: '{{BASE}}' })
  const override = await variables.standOnSecret(context, place.service, base.id, {
    type: 'OVERRIDE',
    value: '{{URL}}',
  })
  const { results } = await usesAt(place.environment)
  assert.deepEqual(
    results.map(({ variable_id, kind, used_by }) => [variable_id, kind, used_by.id]),
    [[base.id, 'OVERRIDE', override.id]],
  )
})

test('of a project lists the uses in every visible environment, and those of an environment in it alone', async () => {
  const other = await addEnvironment(database, place.project)
  await database`update environment set mode = 'PRODUCTION' where id = ${other.environmentId}`
  const base = await variables.createVariable(context, place.project, { key: 'BASE', value: 'x' })
  for (const scope of [place.environment, other])
    await variables.createVariable(context, scope, { key: 'URL', value: '{{BASE}}' })
  const environmentsOf = async (...asked: Parameters<typeof usesAt>) =>
    (await usesAt(...asked)).results.map(({ variable_id, used_by }) => [variable_id, used_by.environment_id])
  const [first, second] = [place.environment, other].map(({ environmentId }) => [base.id, environmentId])
  assert.deepEqual((await environmentsOf(place.project)).toSorted(), [first, second].toSorted())
  assert.deepEqual(await environmentsOf(place.project, (mode) => mode !== 'PRODUCTION'), [first])
  assert.deepEqual(await environmentsOf(other), [second])
})

test('searches at most 2 MiB of texts and says so', async () => {
  const { environmentId } = place.environment
  await database`
    insert into variable (id, environment_id, created_at, updated_at, key, variable_type, is_secret, value)
    select gen_random_uuid(), ${environmentId}, now(), now(), 'LONG_' || n, 'VALUE', false,
      (select string_agg('{{LONG_' || k || '}}', '') from generate_series(1, 6000) k)
    from generate_series(1, 100) n`
  const started = performance.now()
  const { results, is_complete } = await usesAt(place.environment)
  assert.deepEqual([results.length > 1_000, is_complete], [true, false])
  assert.ok(performance.now() - started < 5_000)
})
