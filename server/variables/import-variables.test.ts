import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../lib/secret.ts'
import { sealedTestVault, testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import type { ImportedVariable } from './plan-import.ts'
import { addEnvironment, addPlace, addService, configVersionOf, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
let place: Place
beforeEach(async () => {
  place = await addPlace(database)
})

const sent = (name: string, scope = 'APPLICATION', more: Partial<ImportedVariable> = {}): ImportedVariable => ({
  name,
  value: `value of ${name}`,
  scope,
  is_secret: false,
  ...more,
})
const importAll = (vars: readonly ImportedVariable[], overwrite = true) =>
  variables.importVariables(context, place.service, { overwrite, vars })
const rows = () => database`
  select key, variable_type, is_secret, value, project_id, environment_id, service_id from variable order by key, id`
async function deployed(): Promise<Record<string, string>> {
  const found = (await variables.loadResolved(database, context.vault, place.service))?.variables ?? new Map()
  const own = [...found].filter(([key]) => !key.startsWith('QOVERY_'))
  return Object.fromEntries(
    own.map(([key, { value }]) => [key, value instanceof Secret ? `secret ${value.reveal()}` : value]),
  )
}

test('variables and secrets are written to their scopes and deployed', async () => {
  const vars = [
    sent('A', 'PROJECT'),
    sent('B', 'ENVIRONMENT'),
    sent('C', 'APPLICATION'),
    sent('D', 'APPLICATION', { is_secret: true }),
  ]
  assert.deepEqual(await importAll(vars), vars)
  const { projectId, environmentId, serviceId } = place.service
  const found = await database`
    select key, project_id, environment_id, service_id, is_secret, variable_type from variable
    where project_id = ${projectId} or environment_id = ${environmentId} or service_id = ${serviceId} order by key`
  assert.deepEqual(
    found.map((row) => [row['key'], row['project_id'] ?? row['environment_id'] ?? row['service_id'], row['is_secret']]),
    [
      ['A', projectId, false],
      ['B', environmentId, false],
      ['C', serviceId, false],
      ['D', serviceId, true],
    ],
  )
  assert.deepEqual(await deployed(), { A: 'value of A', B: 'value of B', C: 'value of C', D: 'secret value of D' })
})

test('an existing variable is overridden at a narrower scope and replaced at its own', async () => {
  const wide = await variables.createSecret(context, place.project, { key: 'TOKEN', value: 'wide' })
  await variables.createVariable(context, place.service, { key: 'FILE', value: 'old', mount_path: '/etc/file' })
  await importAll([sent('TOKEN', 'APPLICATION', { value: 'narrow', is_secret: true }), sent('FILE')])
  assert.partialDeepStrictEqual(await deployed(), { TOKEN: 'secret narrow', FILE: '/etc/file' })
  const [record] = (await variables.listSecrets(context, place.service)).filter(
    ({ variable_type }) => variable_type === 'OVERRIDE',
  )
  assert.equal(record?.overridden_secret?.id, wide.id)
  await importAll([sent('TOKEN', 'APPLICATION', { value: 'newer', is_secret: true })])
  assert.equal((await deployed())['TOKEN'], 'secret newer')
})

test('one invalid variable rejects the whole import', async () => {
  await variables.createVariable(context, place.service, { key: 'A', value: 'old' })
  const before = await rows()
  const version = await configVersionOf(database, place.service)
  await assert.rejects(importAll([sent('A'), sent('B'), sent('__proto__')]), { code: 'invalid', message: /^vars\[2\]/ })
  const sealed = { ...context, vault: await sealedTestVault({ after }, database) }
  const vars = [sent('A'), sent('S', 'APPLICATION', { is_secret: true })]
  await assert.rejects(variables.importVariables(sealed, place.service, { overwrite: true, vars }), { code: 'sealed' })
  assert.deepEqual(await rows(), before)
  assert.equal(await configVersionOf(database, place.service), version)
})

test('an import marks the services that see it as out of date, once', async () => {
  const sibling = await addService(database, place.environment)
  const cousin = await addService(database, await addEnvironment(database, place.project))
  const all = [place.service, sibling, cousin]
  const raisedBy = async (work: () => Promise<unknown>): Promise<number[]> => {
    const versions = () => Promise.all(all.map((service) => configVersionOf(database, service)))
    const former = await versions()
    await work()
    return (await versions()).map((version, index) => version - (former[index] ?? 0))
  }
  assert.deepEqual(await raisedBy(() => importAll([sent('A'), sent('B')])), [1, 0, 0])
  assert.deepEqual(await raisedBy(() => importAll([sent('C', 'ENVIRONMENT')])), [1, 1, 0])
  assert.deepEqual(await raisedBy(() => importAll([sent('D', 'PROJECT'), sent('E')])), [1, 1, 1])
  assert.deepEqual(await raisedBy(() => importAll([sent('A'), sent('D', 'PROJECT')])), [0, 0, 0])
  assert.deepEqual(await raisedBy(() => importAll([sent('A')], false)), [0, 0, 0])
})

test('an empty import writes nothing', async () => {
  assert.deepEqual(await importAll([]), [])
})

test('ten thousand variables are written twice with less than three seconds of CPU', async () => {
  const scopes = ['PROJECT', 'ENVIRONMENT', 'APPLICATION']
  const vars = Array.from({ length: 10_000 }, (_, index) =>
    sent(`KEY_${index}`, scopes[index % 3] ?? '', { is_secret: index % 2 === 0 }),
  )
  for (const written of [vars, vars.map((one) => ({ ...one, value: 'again' }))]) {
    // The CPU time of this process, without waiting on a busy machine.
    const start = process.cpuUsage()
    assert.equal((await importAll(written)).length, 10_000)
    const { user, system } = process.cpuUsage(start)
    assert.ok(user + system < 3_000_000, `${user + system} µs`)
  }
  assert.equal((await database`select from variable where key like 'KEY_%'`).length, 10_000)
  assert.equal((await deployed())['KEY_9999'], 'again')
})
