import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import { sealedTestVault, testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import { addPlace, addService, addStanding, configVersionOf, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const vault = await testVault({ after }, database)
const context = { database, vault, clock: systemClock }
let place: Place

beforeEach(async () => {
  place = await addPlace(database)
})

const reveal = (value: string | Secret | undefined): string | undefined =>
  value instanceof Secret ? value.reveal() : value
async function load(deployment?: variables.Deployment) {
  const loaded = await variables.loadResolved(database, vault, place.service, deployment)
  assert.ok(loaded)
  return { ...loaded, textOf: (key: string) => reveal(loaded.variables.get(key)?.value) }
}

test('on the cluster of the engine a deployment gets the network and the domain of the server', async () => {
  await database`update cluster set engine = 'local' where organization_id = ${place.project.organizationId}`
  await database`insert into setting (key, value) values ('domain', '"apps.test"')`
  const { textOf } = await load()
  assert.equal(textOf('QOVERY_KUBERNETES_NAMESPACE_NAME'), `quay-env-${place.environment.environmentId}`)
  assert.equal(textOf('QOVERY_KUBERNETES_CLUSTER_DOMAIN'), 'apps.test')
  await database`delete from setting where key = 'domain'`
  assert.equal((await load()).variables.has('QOVERY_KUBERNETES_CLUSTER_DOMAIN'), false)
})

test('a deployment gets variables, opened secrets, files and built-ins of the whole chain', async () => {
  const sibling = await addService(database, place.environment)
  await variables.createVariable(context, place.project, { key: 'HOST', value: 'wide' })
  await variables.createVariable(context, place.environment, { key: 'HOST', value: 'db' })
  await variables.createSecret(context, place.project, { key: 'PASSWORD', value: 'päss "word"\n$(id)' })
  await variables.createVariable(context, place.service, { key: 'URL', value: '{{PASSWORD}}@{{HOST}}' })
  const file = { key: 'CONF', value: 'p={{PASSWORD}}', mount_path: '/etc/conf', enable_interpolation_in_file: true }
  await variables.createSecret(context, place.service, file)
  await variables.createVariable(context, sibling, { key: 'OTHER', value: '' })
  const { textOf, files, variables: found, configVersion } = await load({ id: 'deployment', commit: 'abc' })
  assert.equal(textOf('HOST'), 'db')
  assert.equal(textOf('PASSWORD'), 'päss "word"\n$(id)')
  assert.deepEqual([textOf('URL'), found.get('URL')?.isSecret], ['päss "word"\n$(id)@db', true])
  assert.equal(textOf('CONF'), '/etc/conf')
  assert.deepEqual(
    files.map((one) => [one.path, reveal(one.content), one.isSecret]),
    [['/etc/conf', 'p=päss "word"\n$(id)', true]],
  )
  assert.equal(found.has('OTHER'), false)
  assert.equal(textOf('QOVERY_DEPLOYMENT_ID'), 'deployment')
  assert.equal(textOf('QOVERY_COMMIT_ID'), 'abc')
  assert.equal(configVersion, await configVersionOf(database, place.service))
})

test('overrides and aliases of stored and built-in variables are followed', async () => {
  const base = await variables.createVariable(context, place.project, { key: 'A', value: 'wide' })
  const [builtIn] = await variables.listVariables(context, place.project)
  await addStanding(database, place.service, { key: 'A', type: 'OVERRIDE', value: 'narrow', base: base.id })
  await addStanding(database, place.service, { key: 'B', type: 'ALIAS', base: base.id })
  await addStanding(database, place.service, { key: 'ID', type: 'ALIAS', builtIn: builtIn?.id ?? '' })
  const { textOf } = await load()
  assert.deepEqual([textOf('A'), textOf('B'), textOf('ID')], ['narrow', 'wide', place.project.projectId])
})

test('texts arrive unchanged, byte for byte', async () => {
  const texts = [
    '',
    ' ',
    '\n',
    '"quotes" \'single\'',
    '$(id) %s \\n',
    '😀é',
    'x'.repeat(128_000),
    'null',
    '{"a":1}',
    '\u0001',
  ]
  for (const [index, value] of texts.entries()) {
    await variables.createVariable(context, place.service, { key: `V${index}`, value })
    await variables.createSecret(context, place.service, { key: `S${index}`, value })
  }
  const { textOf } = await load()
  for (const [index, value] of texts.entries()) {
    assert.equal(textOf(`V${index}`), value)
    assert.equal(textOf(`S${index}`), value)
  }
})

test('variables and version are of one moment despite concurrent writes', async () => {
  const { id } = await variables.createVariable(context, place.service, { key: 'A', value: '0' })
  const first = await configVersionOf(database, place.service)
  let reads = 0
  let last = Number.POSITIVE_INFINITY
  const writing = (async () => {
    let value = 0
    while (value < 40 || reads < 5) await variables.editVariable(context, place.service, id, { value: `${++value}` })
    last = value
  })()
  for (let isDone = false; !isDone; reads++) {
    const { textOf, configVersion } = await load()
    assert.equal(Number(textOf('A')), configVersion - first)
    isDone = configVersion === first + last
  }
  await writing
})

test('a secret with a swapped stored text fails with an error that names it', async () => {
  const strangers = await addPlace(database)
  const mine = await variables.createSecret(context, place.service, { key: 'MINE', value: 'one' })
  const theirs = await variables.createSecret(context, strangers.service, { key: 'THEIRS', value: 'SECRET-CANARY' })
  await database`
    update variable set sealed_value = (select sealed_value from variable where id = ${theirs.id})
    where id = ${mine.id}`
  await assert.rejects(load(), (error: unknown) => {
    assert.ok(error instanceof variables.ResolveError)
    assert.deepEqual([error.reason, error.key], ['unreadable', 'MINE'])
    return !error.message.includes('SECRET-CANARY')
  })
})

test('while the vault is sealed, only a service with secrets cannot be deployed', async () => {
  const sealed = await sealedTestVault({ after }, database)
  await variables.createVariable(context, place.service, { key: 'A', value: 'x' })
  assert.equal((await variables.loadResolved(database, sealed, place.service))?.variables.get('A')?.value, 'x')
  await variables.createSecret(context, place.project, { key: 'B', value: 'x' })
  const loading = variables.loadResolved(database, sealed, place.service)
  await assert.rejects(loading, (error: unknown) => error instanceof AppError && error.code === 'sealed')
})

test('a deleted service has no variables', async () => {
  await database`delete from service where id = ${place.service.serviceId}`
  assert.equal(await variables.loadResolved(database, vault, place.service), undefined)
})
