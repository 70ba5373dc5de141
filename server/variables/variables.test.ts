import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { AppError, type ErrorCode } from '../lib/error.ts'
import { newId, parseId } from '../lib/id.ts'
import { sealedTestVault, testVault } from '../vault/testing.ts'
import * as variables from './index.ts'
import type { Scope } from './scope.ts'
import { addEnvironment, addPlace, addService, addStanding, configVersionOf, type Place } from './testing.ts'

const database = (await testDatabase({ after })).sql
const context = { database, vault: await testVault({ after }, database), clock: systemClock }
const sealed = { ...context, vault: await sealedTestVault({ after }, database) }
let place: Place

beforeEach(async () => {
  place = await addPlace(database)
})

const fails =
  (code: ErrorCode, part = '') =>
  (error: unknown) =>
    error instanceof AppError && error.code === code && error.message.includes(part)
const create = (scope: Scope, key: string, value = 'value', more: Partial<variables.NewVariable> = {}) =>
  variables.createVariable(context, scope, { key, value, ...more })
const createSecret = (scope: Scope, key: string, value = 'SECRET-CANARY') =>
  variables.createSecret(context, scope, { key, value })
const keysOf = (records: readonly { key: string }[]): string[] =>
  records.map(({ key }) => key).filter((key) => !key.startsWith('QOVERY_'))
const rowsOf = (id: string) => database`select * from variable where id = ${id}`
/** Returns the scopes whose service the work marked as out of date. */
async function bumped(
  services: Parameters<typeof configVersionOf>[1][],
  work: () => Promise<unknown>,
): Promise<boolean[]> {
  const versions = () => Promise.all(services.map((service) => configVersionOf(database, service)))
  const former = await versions()
  await work()
  return (await versions()).map((version, index) => version > (former[index] ?? 0))
}

describe('creating', () => {
  test('a variable of a service is returned as the contract says', async () => {
    const { id, created_at, ...record } = await create(place.service, 'PORT', ' 8080\n', { description: null })
    assert.equal(parseId(id), id)
    assert.deepEqual(record, {
      updated_at: created_at,
      key: 'PORT',
      value: ' 8080\n',
      mount_path: null,
      scope: 'APPLICATION',
      variable_type: 'VALUE',
      description: '',
      enable_interpolation_in_file: false,
      service_id: place.service.serviceId,
      service_name: place.service.serviceName,
      service_type: 'APPLICATION',
      owned_by: 'QUAYSIDE',
    })
  })

  test('a secret is returned with its path and without a value', async () => {
    const record = await createSecret(place.project, 'TOKEN')
    assert.deepEqual(Object.keys(record).sort(), [
      'created_at',
      'description',
      'enable_interpolation_in_file',
      'id',
      'key',
      'mount_path',
      'owned_by',
      'scope',
      'updated_at',
      'variable_type',
    ])
    assert.deepEqual([record.scope, record.variable_type], ['PROJECT', 'VALUE'])
  })

  test('a mount path creates a file', async () => {
    const record = await create(place.environment, 'CONF', 'text', {
      mount_path: '/etc/conf',
      enable_interpolation_in_file: true,
    })
    assert.partialDeepStrictEqual(record, {
      variable_type: 'FILE',
      mount_path: '/etc/conf',
      enable_interpolation_in_file: true,
      scope: 'ENVIRONMENT',
    })
  })

  test('invalid fields are rejected by name and store nothing', async () => {
    const bad: [string, variables.NewVariable][] = [
      ['key', { key: 'A=B', value: '' }],
      ['key', { key: '__proto__', value: '' }],
      ['key', { key: 'QOVERY_X', value: '' }],
      ['value', { key: 'A' }],
      ['value', { key: 'A', value: null }],
      ['value', { key: 'A', value: 'a\0' }],
      ['value', { key: 'A', value: 'x'.repeat(128_001) }],
      ['description', { key: 'A', value: '', description: 'x'.repeat(256) }],
      ['mount_path', { key: 'A', value: '', mount_path: '/proc/1' }],
    ]
    for (const [field, input] of bad) {
      await assert.rejects(variables.createVariable(context, place.service, input), fails('invalid', `${field}: `))
      await assert.rejects(variables.createSecret(context, place.service, input), fails('invalid', `${field}: `))
    }
    assert.deepEqual(keysOf(await variables.listVariables(context, place.service)), [])
  })

  test('a key is unique per scope, for variables and secrets together, and case-sensitive', async () => {
    await create(place.service, 'A')
    await assert.rejects(create(place.service, 'A'), fails('conflict', 'A'))
    await assert.rejects(createSecret(place.service, 'A'), fails('conflict', 'A'))
    await create(place.service, 'a')
    await create(place.environment, 'A')
    await create(place.project, 'A')
    assert.deepEqual(keysOf(await variables.listVariables(context, place.service)), ['A', 'A', 'A', 'a'])
  })

  test('only one of fifty concurrent requests creates it', async () => {
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => create(place.environment, 'A')))
    const refused = results.filter((result) => result.status === 'rejected')
    assert.equal(refused.length, 49)
    for (const { reason } of refused) assert.ok(fails('conflict', 'A')(reason), String(reason))
  })

  test('two files of one chain cannot share a path, unless one overrides the other', async () => {
    await create(place.project, 'CONF', '', { mount_path: '/etc/conf' })
    await assert.rejects(create(place.service, 'OTHER', '', { mount_path: '/etc/conf' }), fails('conflict', 'CONF'))
    await create(place.service, 'CONF', '', { mount_path: '/etc/conf' })
    const strangers = await addPlace(database)
    await create(strangers.service, 'OTHER', '', { mount_path: '/etc/conf' })
  })

  test('only one of twenty concurrent files for one path is created', async () => {
    const empty = await addEnvironment(database, place.project)
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => create(empty, `F${index}`, '', { mount_path: '/x' })),
    )
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('of a deleted owner is not found', async () => {
    await database`delete from service where id = ${place.service.serviceId}`
    await assert.rejects(create(place.service, 'A'), fails('notFound'))
  })
})

describe('listing', () => {
  test('shows own, wider and built-in variables, and none of other scopes', async () => {
    const sibling = await addService(database, place.environment)
    const elsewhere = await addEnvironment(database, place.project)
    const strangers = await addPlace(database)
    await create(place.project, 'P')
    await create(place.environment, 'E')
    await create(place.service, 'S')
    for (const scope of [sibling, elsewhere, strangers.project, strangers.service]) await create(scope, 'OTHER')
    assert.deepEqual(keysOf(await variables.listVariables(context, place.project)), ['P'])
    assert.deepEqual(keysOf(await variables.listVariables(context, place.environment)), ['E', 'P'])
    const records = await variables.listVariables(context, place.service)
    assert.deepEqual(keysOf(records), ['E', 'P', 'S'])
    const builtIn = records.find(({ key }) => key === 'QOVERY_PROJECT_ID')
    assert.partialDeepStrictEqual(builtIn, {
      value: place.project.projectId,
      scope: 'BUILT_IN',
      variable_type: 'BUILT_IN',
      description: '',
      owned_by: 'QOVERY',
    })
  })

  test('secrets and variables are listed separately, and no record has the value of a secret', async () => {
    await createSecret(place.project, 'TOKEN')
    await create(place.project, 'PLAIN', 'uses {{TOKEN}}')
    const [secrets, plain] = [
      await variables.listSecrets(context, place.service),
      await variables.listVariables(context, place.service),
    ]
    assert.deepEqual([keysOf(secrets), keysOf(plain)], [['TOKEN'], ['PLAIN']])
    assert.equal(plain.find(({ key }) => key === 'PLAIN')?.value, 'uses {{TOKEN}}')
    assert.equal(JSON.stringify([secrets, plain]).includes('SECRET-CANARY'), false)
    assert.equal('value' in (secrets[0] ?? {}), false)
  })

  test('a service shows its host names, branch and commit', async () => {
    await database`
      insert into route (host, service_id, port_name, internal_port, is_default, updated_at)
      values (${`${place.service.serviceId}.localhost`}, ${place.service.serviceId}, 'p80', 80, true, now())`
    const records = await variables.listVariables(context, place.environment)
    const prefix = `QOVERY_APPLICATION_Z${place.service.serviceId.slice(0, 8).toUpperCase()}_`
    const told = Object.fromEntries(
      records.filter(({ key }) => key.startsWith(prefix)).map(({ key, value }) => [key.slice(prefix.length), value]),
    )
    assert.partialDeepStrictEqual(told, {
      HOST_INTERNAL: variables.internalHost({ kind: 'application', id: place.service.serviceId }),
      HOST_EXTERNAL: `${place.service.serviceId}.localhost`,
      GIT_BRANCH: 'main',
      GIT_COMMIT_ID: 'c0ffee',
    })
    const host = records.find(({ key }) => key === `${prefix}NAME`)
    assert.deepEqual([host?.service_id, host?.service_type], [place.service.serviceId, 'APPLICATION'])
  })

  test('an override shows its base, an alias its target', async () => {
    const base = await create(place.project, 'CONF', 'wide', { mount_path: '/etc/conf' })
    await addStanding(database, place.service, { key: 'CONF', type: 'OVERRIDE', value: 'narrow', base: base.id })
    await addStanding(database, place.service, { key: 'NAME', type: 'ALIAS', base: base.id })
    const records = await variables.listVariables(context, place.service)
    const shown = {
      id: base.id,
      key: 'CONF',
      value: 'wide',
      mount_path: '/etc/conf',
      scope: 'PROJECT',
      variable_type: 'FILE',
    }
    assert.partialDeepStrictEqual(
      records.find(({ variable_type }) => variable_type === 'OVERRIDE'),
      { key: 'CONF', value: 'narrow', mount_path: '/etc/conf', overridden_variable: shown },
    )
    const alias = records.find(({ variable_type }) => variable_type === 'ALIAS')
    assert.partialDeepStrictEqual(alias, { key: 'NAME', value: 'CONF', aliased_variable: shown })
    assert.equal('overridden_variable' in (alias ?? {}), false)
    assert.equal(
      records.some(({ id }) => id === base.id),
      true,
    )
  })

  test('an override of a built-in shows the built-in', async () => {
    const [builtIn] = await variables.listVariables(context, place.project)
    assert.ok(builtIn)
    await addStanding(database, place.service, {
      key: builtIn.key,
      type: 'OVERRIDE',
      value: 'mine',
      builtIn: builtIn.id,
    })
    const override = (await variables.listVariables(context, place.service)).find(
      (one) => one.variable_type === 'OVERRIDE',
    )
    assert.deepEqual(override?.overridden_variable, {
      id: builtIn.id,
      key: 'QOVERY_PROJECT_ID',
      value: place.project.projectId,
      mount_path: null,
      scope: 'BUILT_IN',
      variable_type: 'BUILT_IN',
    })
  })

  test('an alias of a secret is a secret and shows its target without value', async () => {
    const base = await createSecret(place.project, 'TOKEN')
    await addStanding(database, place.service, { key: 'NAME', type: 'ALIAS', base: base.id, isSecret: true })
    const alias = (await variables.listSecrets(context, place.service)).find(({ key }) => key === 'NAME')
    assert.deepEqual(alias?.aliased_secret, {
      id: base.id,
      key: 'TOKEN',
      mount_path: null,
      scope: 'PROJECT',
      variable_type: 'VALUE',
      description: '',
      enable_interpolation_in_file: false,
    })
  })
})

describe('editing', () => {
  test('keeps absent fields and clears null fields', async () => {
    const { id } = await create(place.service, 'A', 'old', { description: 'text', mount_path: '/x' })
    const edited = await variables.editVariable(context, place.service, id, { key: 'B', value: 'new' })
    assert.partialDeepStrictEqual(edited, { id, key: 'B', value: 'new', description: 'text', mount_path: '/x' })
    const cleared = await variables.editVariable(context, place.service, id, { mount_path: null, description: null })
    assert.partialDeepStrictEqual(cleared, { variable_type: 'VALUE', mount_path: null, description: '', value: 'new' })
    const file = await variables.editVariable(context, place.service, id, { mount_path: '/y' })
    assert.partialDeepStrictEqual(file, { variable_type: 'FILE', mount_path: '/y' })
    const listed = (await variables.listVariables(context, place.service)).find((record) => record.id === id)
    assert.deepEqual(listed, file)
  })

  test('changes nothing if a record is written back unchanged', async () => {
    const base = await create(place.project, 'A', 'wide', { mount_path: '/x' })
    await addStanding(database, place.service, { key: 'A', type: 'OVERRIDE', value: 'narrow', base: base.id })
    await addStanding(database, place.service, { key: 'B', type: 'ALIAS', base: base.id })
    for (const record of await variables.listVariables(context, place.service)) {
      if (record.scope !== 'APPLICATION') continue
      assert.deepEqual(await variables.editVariable(context, place.service, record.id, record), record)
    }
  })

  test('rejects, by field, changes that the type of variable forbids', async () => {
    const base = await create(place.project, 'A', 'wide')
    const override = await addStanding(database, place.service, {
      key: 'A',
      type: 'OVERRIDE',
      value: 'x',
      base: base.id,
    })
    const alias = await addStanding(database, place.service, { key: 'B', type: 'ALIAS', base: base.id })
    const edit = (id: string, input: variables.EditedVariable) =>
      variables.editVariable(context, place.service, id, input)
    await assert.rejects(edit(override, { key: 'C' }), fails('invalid', 'key: '))
    await assert.rejects(edit(override, { mount_path: '/x' }), fails('invalid', 'mount_path: '))
    await assert.rejects(edit(alias, { value: 'x' }), fails('invalid', 'value: '))
    await assert.rejects(edit(alias, { mount_path: '/x' }), fails('invalid', 'mount_path: '))
    assert.partialDeepStrictEqual(await edit(override, { value: 'y' }), { value: 'y', variable_type: 'OVERRIDE' })
    assert.partialDeepStrictEqual(await edit(alias, { key: 'C' }), { key: 'C', value: 'A' })
  })

  test('rejects built-in and wider variables and names the place to change them', async () => {
    const wide = await create(place.project, 'A')
    const [builtIn] = await variables.listVariables(context, place.service)
    for (const [id, part] of [
      [wide.id, 'project'],
      [builtIn?.id ?? '', 'built-in'],
    ] as const) {
      await assert.rejects(variables.editVariable(context, place.service, id, { value: 'x' }), fails('invalid', part))
      await assert.rejects(variables.removeVariable(context, place.service, id), fails('invalid', part))
    }
  })

  test('does not find or change unreachable variables', async () => {
    const strangers = await addPlace(database)
    const sibling = await addService(database, place.environment)
    const unreachable = [
      (await create(strangers.service, 'A')).id,
      (await create(strangers.project, 'A')).id,
      (await create(sibling, 'A')).id,
      (await createSecret(place.service, 'SECRET')).id,
      newId(),
    ]
    for (const id of unreachable) {
      const former = await rowsOf(id)
      await assert.rejects(variables.editVariable(context, place.service, id, { value: 'x' }), fails('notFound'))
      await assert.rejects(variables.removeVariable(context, place.service, id), fails('notFound'))
      assert.deepEqual(await rowsOf(id), former)
    }
    const narrow = await create(place.service, 'B')
    await assert.rejects(variables.editVariable(context, place.environment, narrow.id, {}), fails('notFound'))
    await assert.rejects(variables.editSecret(context, place.service, narrow.id, {}), fails('notFound'))
  })

  test('rejects a taken key or path', async () => {
    const { id } = await create(place.service, 'A')
    await create(place.service, 'B', '', { mount_path: '/b' })
    await assert.rejects(variables.editVariable(context, place.service, id, { key: 'B' }), fails('conflict', 'B'))
    await assert.rejects(
      variables.editVariable(context, place.service, id, { mount_path: '/b' }),
      fails('conflict', '/b'),
    )
  })

  test('renames the overrides of a renamed variable', async () => {
    const base = await create(place.project, 'A')
    const middle = await addStanding(database, place.environment, {
      key: 'A',
      type: 'OVERRIDE',
      value: '',
      base: base.id,
    })
    const narrow = await addStanding(database, place.service, { key: 'A', type: 'OVERRIDE', value: '', base: middle })
    await variables.editVariable(context, place.project, base.id, { key: 'B' })
    for (const id of [middle, narrow]) assert.equal((await rowsOf(id))[0]?.key, 'B')
    await create(place.service, 'C')
    await assert.rejects(variables.editVariable(context, place.project, base.id, { key: 'C' }), fails('conflict', 'C'))
    assert.equal((await rowsOf(base.id))[0]?.key, 'B')
  })

  test('keeps the text of a secret if the value is absent or null', async () => {
    const { id } = await createSecret(place.service, 'A')
    const [former] = await rowsOf(id)
    await variables.editSecret(context, place.service, id, { key: 'B', value: null, description: 'new' })
    const [row] = await rowsOf(id)
    assert.deepEqual([row?.key, row?.description, row?.sealed_value], ['B', 'new', former?.sealed_value])
    const edited = await variables.editSecret(context, place.service, id, { value: 'other' })
    assert.notEqual((await rowsOf(id))[0]?.sealed_value, former?.sealed_value)
    assert.equal('value' in edited, false)
  })
})

describe('removing', () => {
  test('does not find a variable that is removed while the edit waits', async () => {
    const { id } = await create(place.project, 'A')
    let edit: Promise<unknown> = Promise.resolve()
    await database.begin(async (sql) => {
      await sql`delete from variable where id = ${id}`
      edit = variables.editVariable(context, place.project, id, { value: 'x' })
      edit.catch(() => {})
      await until('the statement waits', async () => {
        const [row] = await database`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        return row !== undefined
      })
    })
    await assert.rejects(edit, fails('notFound'))
  })

  test('removes aliases and overrides too', async () => {
    const base = await create(place.project, 'A')
    const override = await addStanding(database, place.service, {
      key: 'A',
      type: 'OVERRIDE',
      value: '',
      base: base.id,
    })
    await addStanding(database, place.service, { key: 'B', type: 'ALIAS', base: override })
    await variables.removeVariable(context, place.project, base.id)
    assert.deepEqual(keysOf(await variables.listVariables(context, place.service)), [])
  })

  test('removes a secret, and does not find it a second time', async () => {
    const { id } = await createSecret(place.environment, 'A')
    await variables.removeSecret(context, place.environment, id)
    await assert.rejects(variables.removeSecret(context, place.environment, id), fails('notFound'))
  })
})

describe('out of date', () => {
  test('is set by every change, only on services that see the variable', async () => {
    const sibling = await addService(database, place.environment)
    const cousin = await addService(database, await addEnvironment(database, place.project))
    const stranger = (await addPlace(database)).service
    const all = [place.service, sibling, cousin, stranger]
    const seen: [Scope, boolean[]][] = [
      [place.service, [true, false, false, false]],
      [place.environment, [true, true, false, false]],
      [place.project, [true, true, true, false]],
    ]
    for (const [scope, expected] of seen) {
      let id = ''
      const changes: (() => Promise<unknown>)[] = [
        async () => {
          id = (await create(scope, 'A')).id
        },
        () => variables.editVariable(context, scope, id, { value: 'new' }),
        () => variables.editVariable(context, scope, id, { key: 'B' }),
        () => variables.editVariable(context, scope, id, { mount_path: '/x' }),
        () => variables.removeVariable(context, scope, id),
        async () => {
          id = (await createSecret(scope, 'A')).id
        },
        () => variables.editSecret(context, scope, id, { value: 'new' }),
        () => variables.removeSecret(context, scope, id),
      ]
      for (const change of changes) assert.deepEqual(await bumped(all, change), expected)
    }
  })

  test('is not set by a description or an edit without difference', async () => {
    const { id } = await create(place.service, 'A')
    const edits = [{ description: 'new' }, { key: 'A', value: 'value', mount_path: null }]
    for (const input of edits)
      assert.deepEqual(await bumped([place.service], () => variables.editVariable(context, place.service, id, input)), [
        false,
      ])
  })

  test('is not set by a rejected change', async () => {
    await create(place.service, 'A')
    const refused = () => assert.rejects(create(place.service, 'A'))
    assert.deepEqual(await bumped([place.service], refused), [false])
  })

  test('is set by all concurrent changes of overlapping scopes, without a deadlock', async () => {
    await Promise.all(Array.from({ length: 5 }, () => addService(database, place.environment)))
    const former = await configVersionOf(database, place.service)
    const scopes = [place.project, place.environment, place.service]
    let retries = 0
    const clock = { ...systemClock, sleep: async () => void retries++ }
    const creates = Array.from({ length: 60 }, (_, index) =>
      variables.createVariable({ ...context, clock }, scopes[index % 3] ?? place.project, {
        key: `K${index}`,
        value: '',
      }),
    )
    await Promise.all(creates)
    assert.equal(await configVersionOf(database, place.service), former + 60)
    assert.equal(retries, 0)
  })
})

describe('while the vault is sealed', () => {
  test('variables work, secrets can be listed and removed, and their texts are untouched', async () => {
    const { id } = await createSecret(place.service, 'A')
    const former = await rowsOf(id)
    await variables.createVariable(sealed, place.service, { key: 'B', value: 'x' })
    await assert.rejects(variables.createSecret(sealed, place.service, { key: 'C', value: 'x' }), fails('sealed'))
    await assert.rejects(variables.editSecret(sealed, place.service, id, { value: 'x' }), fails('sealed'))
    assert.deepEqual(await rowsOf(id), former)
    assert.deepEqual(keysOf(await variables.listSecrets(sealed, place.service)), ['A'])
    await variables.editSecret(sealed, place.service, id, { description: 'x' })
    await variables.removeSecret(sealed, place.service, id)
  })
})
