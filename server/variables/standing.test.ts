import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { AppError, type ErrorCode } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import { testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import type { Scope } from './scope.ts'
import { addPlace, addService, configVersionOf, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
let place: Place
beforeEach(async () => {
  place = await addPlace(database)
})

const fails =
  (code: ErrorCode, part = '') =>
  (error: unknown) =>
    error instanceof AppError && error.code === code && error.message.includes(part)
const create = (scope: Scope, key: string, value = 'value', mount_path: string | null = null) =>
  variables.createVariable(context, scope, { key, value, mount_path })
const alias = (scope: Scope, id: string, key = 'SECOND') =>
  variables.standOnVariable(context, scope, id, { type: 'ALIAS', key })
const override = (scope: Scope, id: string, value = 'mine') =>
  variables.standOnVariable(context, scope, id, { type: 'OVERRIDE', value })
const builtIn = async (scope: Scope, key: string) => {
  const found = (await variables.listVariables(context, scope)).find((one) => one.key === key)
  assert.ok(found, key)
  return found
}
const deployed = async (key: string): Promise<string | undefined> => {
  const value = (await variables.loadResolved(database, context.vault, place.service))?.variables.get(key)?.value
  return value instanceof Secret ? `secret ${value.reveal()}` : value
}

describe('an alias', () => {
  test('has the value of its target, and its target’s key as the value of its record', async () => {
    const target = await create(place.project, 'A')
    for (const scope of [place.project, place.environment, place.service]) {
      const record = await alias(scope, target.id, `B_${scope.scope}`)
      assert.partialDeepStrictEqual(record, {
        value: 'A',
        variable_type: 'ALIAS',
        scope: scope.scope === 'SERVICE' ? 'APPLICATION' : scope.scope,
        description: '',
        aliased_variable: {
          id: target.id,
          key: 'A',
          value: 'value',
          mount_path: null,
          scope: 'PROJECT',
          variable_type: 'VALUE',
        },
      })
      assert.equal('overridden_variable' in record, false)
      assert.equal(await deployed(`B_${scope.scope}`), 'value')
    }
  })

  test('of a file has its path, of an override its value, of a built-in its value', async () => {
    const file = await create(place.project, 'FILE', 'content', '/etc/file')
    assert.equal((await alias(place.service, file.id, 'OF_FILE')).mount_path, '/etc/file')
    assert.equal(await deployed('OF_FILE'), '/etc/file')
    const narrow = await override(place.environment, (await create(place.project, 'A')).id)
    await alias(place.service, narrow.id, 'OF_OVERRIDE')
    assert.equal(await deployed('OF_OVERRIDE'), 'mine')
    await alias(place.service, (await builtIn(place.service, 'QOVERY_PROJECT_ID')).id, 'OF_BUILT_IN')
    assert.equal(await deployed('OF_BUILT_IN'), place.project.projectId)
  })

  test('is rejected for an alias, a taken or reserved name, or an unreachable base', async () => {
    const target = await create(place.project, 'A')
    const second = await alias(place.project, target.id)
    await assert.rejects(alias(place.service, second.id, 'THIRD'), fails('invalid', 'SECOND is an alias itself'))
    await assert.rejects(alias(place.project, target.id), fails('conflict', 'SECOND'))
    await assert.rejects(alias(place.project, target.id, 'QOVERY_X'), fails('invalid', 'key: '))
    const narrow = await create(place.service, 'NARROW')
    await assert.rejects(alias(place.environment, narrow.id), fails('notFound'))
    const strangers = await addPlace(database)
    await assert.rejects(alias(strangers.service, target.id), fails('notFound'))
  })

  test('keeps its value, and takes a new key', async () => {
    const target = await create(place.project, 'A')
    const { id } = await alias(place.service, target.id)
    const edit = (input: variables.EditedVariable) => variables.editVariable(context, place.service, id, input)
    await assert.rejects(edit({ key: 'SECOND', value: 'x' }), fails('invalid', 'value: '))
    assert.equal((await edit({ key: 'THIRD', value: 'A', description: 'so' })).key, 'THIRD')
  })
})

describe('an override', () => {
  test('has the key of its base and a value of its own, on every narrower scope', async () => {
    const base = await create(place.project, 'A')
    const middle = await override(place.environment, base.id, 'middle')
    assert.equal(await deployed('A'), 'middle')
    const narrow = await override(place.service, middle.id, 'narrow')
    assert.equal(await deployed('A'), 'narrow')
    assert.partialDeepStrictEqual(narrow, {
      key: 'A',
      value: 'narrow',
      variable_type: 'OVERRIDE',
      scope: 'APPLICATION',
      overridden_variable: {
        id: middle.id,
        key: 'A',
        value: 'middle',
        mount_path: null,
        scope: 'ENVIRONMENT',
        variable_type: 'OVERRIDE',
      },
    })
  })

  test('of a built-in is possible at every scope that sees it', async () => {
    const base = await builtIn(place.project, 'QOVERY_PROJECT_ID')
    const record = await override(place.project, base.id, 'own')
    assert.partialDeepStrictEqual(record, { scope: 'PROJECT', key: 'QOVERY_PROJECT_ID', variable_type: 'OVERRIDE' })
    assert.equal(record.overridden_variable?.scope, 'BUILT_IN')
    assert.equal(await deployed('QOVERY_PROJECT_ID'), 'own')
    const own = await builtIn(place.service, 'QOVERY_SERVICE_ID')
    await assert.rejects(override(place.environment, own.id), fails('notFound'))
    await override(place.service, own.id, 'own')
    assert.equal(await deployed('QOVERY_SERVICE_ID'), 'own')
  })

  test('is refused where it is not narrower, a second time, and of what cannot be seen', async () => {
    const base = await create(place.environment, 'A')
    await assert.rejects(override(place.environment, base.id), fails('invalid', 'wider scope'))
    await assert.rejects(override(place.project, base.id), fails('notFound'))
    await override(place.service, base.id)
    await assert.rejects(override(place.service, base.id), fails('conflict', 'A'))
    const own = await create(place.service, 'B')
    await assert.rejects(override(place.service, own.id), fails('invalid', 'this application already'))
    const strangers = await addPlace(database)
    await assert.rejects(override(strangers.service, base.id), fails('notFound'))
  })

  test('of a file, and of an alias of one, is a file at the same place', async () => {
    const file = await create(place.project, 'FILE', 'content', '/etc/file')
    const record = await override(place.environment, file.id, 'other')
    assert.deepEqual([record.mount_path, record.variable_type], ['/etc/file', 'OVERRIDE'])
    const second = await alias(place.project, file.id, 'ALSO')
    const narrow = await override(place.service, second.id, 'third')
    assert.equal(narrow.mount_path, '/etc/file')
    const resolved = await variables.loadResolved(database, context.vault, place.service)
    assert.deepEqual(resolved?.files, [{ path: '/etc/file', content: 'third', isSecret: false }])
    assert.deepEqual([await deployed('FILE'), await deployed('ALSO')], ['/etc/file', '/etc/file'])
  })

  test('keeps its key, and takes a new value', async () => {
    const { id } = await override(place.service, (await create(place.project, 'A')).id)
    const edit = (input: variables.EditedVariable) => variables.editVariable(context, place.service, id, input)
    await assert.rejects(edit({ key: 'B', value: 'x' }), fails('invalid', 'key: '))
    assert.equal((await edit({ key: 'A', value: 'x' })).value, 'x')
  })
})

test('an alias or override of a secret is a secret without any value', async () => {
  const secret = await variables.createSecret(context, place.project, { key: 'TOKEN', value: 'CANARY' })
  const second = await variables.standOnSecret(context, place.service, secret.id, { type: 'ALIAS', key: 'SECOND' })
  const narrow = await variables.standOnSecret(context, place.service, secret.id, {
    type: 'OVERRIDE',
    value: 'MINE-CANARY',
  })
  for (const record of [second, narrow]) assert.equal(JSON.stringify(record).includes('"value"'), false)
  assert.deepEqual(
    [second.aliased_secret, narrow.overridden_secret],
    Array.from({ length: 2 }, () => ({
      id: secret.id,
      key: 'TOKEN',
      mount_path: null,
      scope: 'PROJECT',
      variable_type: 'VALUE',
      description: '',
      enable_interpolation_in_file: false,
    })),
  )
  assert.deepEqual([await deployed('SECOND'), await deployed('TOKEN')], ['secret CANARY', 'secret MINE-CANARY'])
  await assert.rejects(alias(place.service, secret.id, 'THIRD'), fails('notFound'))
  const plain = await create(place.project, 'A')
  const asSecret = variables.standOnSecret(context, place.service, plain.id, { type: 'ALIAS', key: 'X' })
  await assert.rejects(asSecret, fails('notFound'))
})

test('an alias or override marks only the services that see it as out of date', async () => {
  const sibling = await addService(database, place.environment)
  const { id } = await create(place.project, 'A')
  const versions = () => Promise.all([place.service, sibling].map((service) => configVersionOf(database, service)))
  const [own = 0, other = 0] = await versions()
  await alias(place.service, id)
  await override(place.service, id)
  assert.deepEqual(await versions(), [own + 2, other])
})

test('removing a base removes its direct and indirect dependents', async () => {
  const base = await create(place.project, 'A')
  const middle = await override(place.environment, base.id)
  await alias(place.service, middle.id)
  await variables.removeVariable(context, place.project, base.id)
  const left = (await variables.listVariables(context, place.service)).filter(({ scope }) => scope !== 'BUILT_IN')
  assert.deepEqual(left, [])
})

test('secrets read by their ids have a null value and their type', async () => {
  const secret = await variables.createAny(context, place.project, { key: 'TOKEN', value: 'CANARY', is_secret: true })
  assert.deepEqual([secret.value, secret.is_secret], [null, true])
  const target = { id: secret.id, organization_id: place.project.organizationId, project_id: place.project.projectId }
  const whole = { ...target, environment_id: null, environment_mode: null, service_id: null, service_kind: null }
  const named = { ...whole, service_name: null, is_secret: true }
  const narrow = await variables.standOnAny(context, place.service, named, { type: 'OVERRIDE', value: 'x' })
  assert.deepEqual([narrow.value, narrow.overridden_variable?.value, narrow.is_secret], [null, null, true])
  const edited = await variables.editAny(context, named, { key: 'RENAMED', value: null })
  assert.equal(edited.key, 'RENAMED')
  assert.equal(await deployed('RENAMED'), 'secret x')
  const all = await variables.listAny(context, place.service, undefined)
  const secrets = await variables.listAny(context, place.service, true)
  assert.equal(secrets.length + (await variables.listAny(context, place.service, false)).length, all.length)
  assert.ok(secrets.every(({ value, is_secret }) => value === null && is_secret))
  await variables.removeAny(context, named)
  assert.deepEqual(await variables.listAny(context, place.service, true), [])
})
