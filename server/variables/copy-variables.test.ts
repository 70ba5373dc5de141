import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import type { EnvironmentScope, Scope, ServiceScope } from './scope.ts'
import { addEnvironment, addPlace, addService, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
let place: Place
let sibling: ServiceScope
beforeEach(async () => {
  place = await addPlace(database)
  sibling = await addService(database, place.environment)
})

const create = (scope: Scope, key: string, value = key, mount_path: string | null = null) =>
  variables.createVariable(context, scope, { key, value, mount_path })
const secret = (scope: Scope, key: string, value: string) => variables.createSecret(context, scope, { key, value })
const standOn = (scope: Scope, id: string, input: variables.NewStanding) =>
  variables.standOnVariable(context, scope, id, input)
const builtIn = async (scope: Scope, key: string) => {
  const found = (await variables.listVariables(context, scope)).find((one) => one.key === key)
  assert.ok(found, key)
  return found
}
const digits = ({ serviceId }: ServiceScope): string => serviceId.slice(0, 8).toUpperCase()

const copy = (
  to: EnvironmentScope,
  services: readonly (readonly [ServiceScope, ServiceScope])[],
  withEnvironment = true,
) =>
  database.begin((sql) =>
    variables.copyVariables(sql, context, {
      from: place.environment,
      to,
      services: new Map(services.map(([former, next]) => [former.serviceId, next.serviceId])),
      withEnvironment,
    }),
  )
async function deployed(service: ServiceScope): Promise<Record<string, string>> {
  const found = await variables.loadResolved(database, context.vault, service)
  const own = [...(found?.variables ?? [])].filter(([key]) => !key.startsWith('QOVERY_'))
  return Object.fromEntries(
    own.map(([key, { value }]) => [key, value instanceof Secret ? `secret ${value.reveal()}` : value]),
  )
}
/** A second environment with a copy of both services. */
async function copyEnvironment(project = place.project) {
  const environment = await addEnvironment(database, project)
  const [one, two] = [await addService(database, environment), await addService(database, environment)]
  await copy(environment, [
    [place.service, one],
    [sibling, two],
  ])
  return { environment, one, two }
}

test('variables, secrets and files of an environment are copied and independent', async () => {
  await create(place.project, 'SHARED')
  await create(place.environment, 'WIDE')
  await create(place.service, 'NARROW')
  await create(sibling, 'OTHER', 'text', '/etc/other')
  const { id } = await secret(place.service, 'TOKEN', 'CANARY')
  const { one, two } = await copyEnvironment()
  assert.deepEqual(await deployed(one), {
    SHARED: 'SHARED',
    WIDE: 'WIDE',
    NARROW: 'NARROW',
    TOKEN: 'secret CANARY',
  })
  assert.deepEqual(await deployed(two), { SHARED: 'SHARED', WIDE: 'WIDE', OTHER: '/etc/other' })
  await variables.editSecret(context, place.service, id, { value: 'changed' })
  assert.equal((await deployed(one))['TOKEN'], 'secret CANARY')
  const sealed = await database`select sealed_value from variable where key = 'TOKEN'`
  assert.equal(new Set(sealed.map((row) => row['sealed_value'])).size, sealed.length)
})

test('aliases and overrides refer to the copies, or to bases that both environments reach', async () => {
  const shared = await create(place.project, 'SHARED')
  const wide = await create(place.environment, 'WIDE')
  const override = await standOn(place.service, wide.id, { type: 'OVERRIDE', value: 'mine' })
  await standOn(place.service, override.id, { type: 'ALIAS', key: 'OF_OVERRIDE' })
  await standOn(place.environment, shared.id, { type: 'ALIAS', key: 'OF_SHARED' })
  const { environment, one } = await copyEnvironment()
  const records = new Map((await variables.listVariables(context, one)).map((record) => [record.id, record]))
  const named = (key: string, type: string) => {
    const found = [...records.values()].find((one) => one.key === key && one.variable_type === type)
    assert.ok(found, `${key} ${type}`)
    return found
  }
  const base = named('WIDE', 'OVERRIDE').overridden_variable?.id ?? ''
  assert.notEqual(base, wide.id)
  assert.equal(records.get(base)?.scope, 'ENVIRONMENT')
  assert.equal(named('OF_OVERRIDE', 'ALIAS').aliased_variable?.id, named('WIDE', 'OVERRIDE').id)
  assert.equal(named('OF_SHARED', 'ALIAS').aliased_variable?.id, shared.id)
  await variables.removeVariable(context, environment, base)
  assert.deepEqual(await deployed(one), { SHARED: 'SHARED', OF_SHARED: 'SHARED' })
  assert.equal((await deployed(place.service))['WIDE'], 'mine')
})

test('names of built-ins are renamed with their services, in keys, texts and secrets', async () => {
  const own = `QOVERY_APPLICATION_Z${digits(sibling)}_HOST_INTERNAL`
  await create(place.environment, 'URL', `http://{{${own}}}:8080/QOVERY_APPLICATION_Z00000000_X`)
  await secret(place.service, 'DSN', `{{${own}}}/secret`)
  await create(place.service, 'CONF', `$\{${own}}`, '/etc/conf')
  await standOn(place.service, (await builtIn(place.service, own)).id, { type: 'OVERRIDE', value: 'elsewhere' })
  await standOn(place.service, (await builtIn(place.service, 'QOVERY_ENVIRONMENT_ID')).id, {
    type: 'ALIAS',
    key: 'ENV',
  })
  await standOn(place.service, (await builtIn(place.service, 'QOVERY_SERVICE_ID')).id, { type: 'ALIAS', key: 'ME' })
  const { environment, one, two } = await copyEnvironment()
  const renamed = `QOVERY_APPLICATION_Z${digits(two)}_HOST_INTERNAL`
  const records = await variables.listVariables(context, one)
  const ownValue = (key: string) => records.find((one) => one.key === key && one.scope !== 'BUILT_IN')?.value
  assert.equal(ownValue('URL'), `http://{{${renamed}}}:8080/QOVERY_APPLICATION_Z00000000_X`)
  assert.equal(ownValue('CONF'), `$\{${renamed}}`)
  assert.equal(ownValue(renamed), 'elsewhere')
  assert.equal(
    records.find(({ variable_type }) => variable_type === 'OVERRIDE')?.overridden_variable?.scope,
    'BUILT_IN',
  )
  assert.partialDeepStrictEqual(await deployed(one), {
    URL: 'http://elsewhere:8080/QOVERY_APPLICATION_Z00000000_X',
    DSN: 'secret elsewhere/secret',
    ENV: environment.environmentId,
    ME: one.serviceId,
  })
})

test('a service is copied alone, within its environment', async () => {
  const wide = await create(place.environment, 'WIDE')
  await standOn(place.service, wide.id, { type: 'OVERRIDE', value: 'mine' })
  const own = `QOVERY_APPLICATION_Z${digits(place.service)}_NAME`
  const others = `QOVERY_APPLICATION_Z${digits(sibling)}_NAME`
  await create(place.service, 'NAMES', `{{${own}}} {{${others}}}`)
  await standOn(place.service, (await builtIn(place.service, others)).id, { type: 'ALIAS', key: 'OTHER' })
  const next = await addService(database, place.environment)
  await copy(place.environment, [[place.service, next]], false)
  assert.deepEqual(await deployed(next), {
    WIDE: 'mine',
    NAMES: `${next.serviceName} ${sibling.serviceName}`,
    OTHER: sibling.serviceName,
  })
})

test('a copy in another project refers to the variable of the same key, or keeps the text', async () => {
  const [same, alone] = [await create(place.project, 'SAME'), await create(place.project, 'ALONE', 'x', '/etc/alone')]
  const token = await secret(place.project, 'TOKEN', 'CANARY')
  await standOn(place.environment, same.id, { type: 'ALIAS', key: 'OF_SAME' })
  await standOn(place.environment, alone.id, { type: 'OVERRIDE', value: 'mine' })
  await variables.standOnSecret(context, place.service, token.id, { type: 'ALIAS', key: 'OF_TOKEN' })
  const elsewhere = await addPlace(database)
  const there = await create(elsewhere.project, 'SAME', 'theirs')
  const { one } = await copyEnvironment(elsewhere.project)
  assert.deepEqual(await deployed(one), {
    SAME: 'theirs',
    OF_SAME: 'theirs',
    ALONE: '/etc/alone',
    OF_TOKEN: 'secret CANARY',
  })
  const records = await variables.listVariables(context, one)
  assert.equal(records.find(({ key }) => key === 'OF_SAME')?.aliased_variable?.id, there.id)
  assert.partialDeepStrictEqual(
    records.find(({ key }) => key === 'ALONE'),
    { variable_type: 'FILE', value: 'mine', mount_path: '/etc/alone' },
  )
})
