import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { testVault } from '../vault/testing.ts'
import { listSecrets, listVariables, loadResolved, type ServiceOutput, setServiceOutputs } from './index.ts'
import { addPlace, addService, configVersionOf } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
const place = await addPlace(database)
const job = await addService(database, place.environment, 'job')
const prefix = `QOVERY_OUTPUT_JOB_Z${job.serviceId.slice(0, 8).toUpperCase()}_`

const set = (outputs: readonly ServiceOutput[]) =>
  database.begin((sql) => setServiceOutputs(sql, context, job, outputs))
const raised = async (outputs: readonly ServiceOutput[]): Promise<number> => {
  const former = await configVersionOf(database, place.service)
  const own = await configVersionOf(database, job)
  await set(outputs)
  assert.equal(await configVersionOf(database, job), own)
  return (await configVersionOf(database, place.service)) - former
}
const url = { key: 'URL', value: 'https://x', isSecret: false }
const token = { key: 'TOKEN', value: 'CANARY', isSecret: true }

test('outputs of a job are variables of every service of its environment, secret ones without value', async () => {
  assert.equal(await raised([url, token]), 1)
  const listed = (await listVariables(context, place.service)).find(({ key }) => key === `${prefix}URL`)
  assert.deepEqual([listed?.value, listed?.scope, listed?.service_type], ['https://x', 'BUILT_IN', 'JOB'])
  const [secret] = await listSecrets(context, place.service)
  assert.deepEqual([secret?.key, secret?.scope, secret?.variable_type], [`${prefix}TOKEN`, 'BUILT_IN', 'BUILT_IN'])
  assert.equal(secret && 'value' in secret, false)
  const resolved = await loadResolved(database, context.vault, place.service)
  const value = resolved?.variables.get(`${prefix}TOKEN`)?.value
  assert.equal(value instanceof Secret && value.reveal(), 'CANARY')
})

test('only changed outputs mark services as out of date, and missing ones are removed', async () => {
  await set([url, token])
  assert.equal(await raised([url, token]), 0)
  assert.equal(await raised([{ ...token, value: 'OTHER' }, url]), 1)
  assert.equal(await raised([url]), 1)
  assert.deepEqual(await listSecrets(context, place.service), [])
  await assert.rejects(set([{ ...url, key: 'A-B' }]), { code: 'invalid', message: /A-B/ })
})

test('a database tells its password in an address, sealed where it is kept', async () => {
  const id = (await addService(database, place.environment, 'database')).serviceId
  await database`update service set settings = '{"type": "POSTGRESQL", "version": "17"}' where id = ${id}`
  const cell = { table: 'service_secret', row: `${id} password`, column: 'sealed_value' }
  const sealed = await context.vault.seal(database, place.service.organizationId, cell, 'CANARY')
  await database`
    insert into service_secret (service_id, created_at, updated_at, name, sealed_value)
    values (${id}, now(), now(), 'password', ${sealed})`
  const secrets = (await listSecrets(context, place.environment)).map(({ key }) => key.replace(/^.*_Z[0-9A-F]{8}_/, ''))
  assert.deepEqual(secrets, ['PASSWORD', 'DATABASE_URL', 'DATABASE_URL_INTERNAL'])
  const resolved = await loadResolved(database, context.vault, place.service)
  const key = `QOVERY_POSTGRESQL_Z${id.slice(0, 8).toUpperCase()}_DATABASE_URL_INTERNAL`
  const value = resolved?.variables.get(key)?.value
  assert.match(
    value instanceof Secret ? value.reveal() : '',
    /^postgresql:\/\/root:CANARY@database-z\w+:5432\/postgres$/,
  )
})
