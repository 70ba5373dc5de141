import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { masker } from '../../server/lib/masker.ts'
import { Secret } from '../../server/lib/secret.ts'
import { idsOf, operations, pathOf, unknownId } from '../contract/requests.ts'
import { canaryOf } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Groups D and H: aliases, overrides, imports, and variables by their own ids. README.md lists the
 * other cases of H.
 */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const admin = a.tokens.ADMIN
const mine = a.objects
const theirs = b.objects
const application = `/application/${mine.applicationId}`
const badKeys = ['A=B', 'A\nEVIL=1', 'A\0', '', 'A B', '1A', '-A', 'é', 'x'.repeat(300), 'QOVERY_X', '__proto__']
let made = 0
const nextKey = (): string => `KEY_${made++}`

const recordOf = ({ body }: { body: unknown }) => Object(body)
const create = async (path: string, more: object = {}): Promise<{ id: string; key: string }> => {
  const answer = await call(admin, 'POST', path, { key: nextKey(), value: 'value', ...more })
  assert.equal(answer.status, 201, answer.text)
  return recordOf(answer)
}
const refuses = async (status: number, method: string, path: string, body: object, token = admin) => {
  const before = await platform.fingerprint()
  const answer = await call(token, method, path, body)
  assert.equal(answer.status, status, answer.text)
  assert.deepEqual(await platform.fingerprint(), before)
  return recordOf(answer).message as string
}
const anywhere = (scope: string, parent: string) => ({
  variable_scope: scope,
  variable_parent_id: parent,
  is_secret: false,
})
const importPath = `${application}/environmentVariable/import`
const sent = (name: string, more: object = {}) => ({
  name,
  value: 'x',
  scope: 'APPLICATION',
  is_secret: false,
  ...more,
})

test('H1, H3: a key that could break an environment is refused everywhere', async () => {
  const base = mine.variables.project
  for (const key of badKeys) {
    await refuses(400, 'POST', `${application}/environmentVariable/${base}/alias`, { key })
    await refuses(400, 'POST', `${application}/secret/${mine.secrets.project}/alias`, { key })
    const alias = { key, alias_scope: 'APPLICATION', alias_parent_id: mine.applicationId }
    await refuses(400, 'POST', `/variable/${base}/alias`, alias)
    await refuses(400, 'POST', '/variable', { key, value: '', ...anywhere('PROJECT', mine.projectId) })
    await refuses(400, 'PUT', `/variable/${base}`, { key })
    await refuses(400, 'POST', importPath, { vars: [sent(key)] })
  }
})

test('H2, H4, H18: an override needs a valid value and a short description', async () => {
  const paths = [
    `${application}/environmentVariable/${mine.variables.project}/override`,
    `${application}/secret/${mine.secrets.project}/override`,
  ]
  const bad = [
    {},
    { value: null },
    { value: 'a\0b' },
    { value: 'é'.repeat(64_001) },
    { value: '', description: 'x'.repeat(256) },
  ]
  for (const path of paths) for (const body of bad) await refuses(400, 'POST', path, body)
})

test('H6: a plain variable that uses a secret shows the template', async () => {
  const secret = await create(`${application}/secret`, { value: canaryOf(a) })
  const plain = await create(`${application}/environmentVariable`, { value: `{{${secret.key}}}` })
  for (const path of [
    `${application}/environmentVariable`,
    `/variable?parent_id=${mine.applicationId}&scope=APPLICATION`,
  ]) {
    const answer = await call(admin, 'GET', path)
    const found = recordOf(answer).results.find(({ id }: { id: string }) => id === plain.id)
    assert.equal(found.value, `{{${secret.key}}}`)
    assert.equal(answer.text.includes(canaryOf(a)), false)
  }
})

test('H7, H11, H12: no answer about aliases and overrides of a secret contains a value', async () => {
  const { id } = await create(`/project/${mine.projectId}/secret`, { value: canaryOf(a) })
  const place = { override_scope: 'ENVIRONMENT', override_parent_id: mine.environmentId }
  const answers = [
    await call(admin, 'POST', `${application}/secret/${id}/override`, { value: canaryOf(a) }),
    await call(admin, 'POST', `${application}/secret/${id}/alias`, { key: nextKey() }),
    await call(admin, 'POST', `/variable/${id}/override`, { value: canaryOf(a), ...place }),
    await call(admin, 'GET', `${application}/secret`),
    await call(admin, 'GET', `/variable?parent_id=${mine.applicationId}&scope=APPLICATION`),
    await call(admin, 'GET', `/variable?parent_id=${mine.applicationId}&scope=APPLICATION&is_secret=true`),
    await call(admin, 'PUT', `/variable/${id}`, { key: nextKey(), value: null }),
  ]
  for (const answer of answers) {
    assert.ok(answer.status < 300, answer.text)
    assert.equal(answer.text.includes(canaryOf(a)), false)
  }
  for (const answer of answers.slice(0, 2)) assert.equal(answer.text.includes('"value"'), false)
  assert.ok(recordOf(answers[5] ?? { body: {} }).results.every((one: { value: unknown }) => one.value === null))
})

test('H7: an alias of an alias, an override in the same scope and a second override are refused', async () => {
  const base = await create(`/project/${mine.projectId}/environmentVariable`)
  const alias = await call(admin, 'POST', `${application}/environmentVariable/${base.id}/alias`, { key: nextKey() })
  const second = recordOf(alias).id
  assert.match(
    await refuses(400, 'POST', `${application}/environmentVariable/${second}/alias`, { key: nextKey() }),
    /alias/,
  )
  const own = await create(`${application}/environmentVariable`)
  await refuses(400, 'POST', `${application}/environmentVariable/${own.id}/override`, { value: 'x' })
  const path = `${application}/environmentVariable/${base.id}/override`
  assert.equal((await call(admin, 'POST', path, { value: 'x' })).status, 201)
  await refuses(409, 'POST', path, { value: 'x' })
})

test('H7: a built-in variable is neither edited nor removed, but accepts overrides and aliases', async () => {
  const { results } = recordOf(await call(admin, 'GET', `/variable?parent_id=${mine.applicationId}&scope=APPLICATION`))
  const builtIns = results.filter((one: { scope: string }) => one.scope === 'BUILT_IN')
  assert.ok(builtIns.length > 10)
  for (const { id, key, is_secret } of builtIns) {
    await refuses(400, 'PUT', `/variable/${id}`, { key: 'STOLEN', value: 'x' })
    await refuses(400, 'DELETE', `/variable/${id}`, {})
    const place = { alias_scope: 'APPLICATION', alias_parent_id: mine.applicationId }
    const alias = await call(admin, 'POST', `/variable/${id}/alias`, { key: nextKey(), ...place })
    assert.deepEqual([alias.status, recordOf(alias).value], [201, is_secret ? null : key])
  }
})

test('H9: one of fifty concurrent overrides of the same variable succeeds', async () => {
  const { id } = await create(`/project/${mine.projectId}/environmentVariable`)
  const path = `${application}/environmentVariable/${id}/override`
  const answers = await Promise.all(Array.from({ length: 50 }, () => call(admin, 'POST', path, { value: 'x' })))
  const statuses = answers.map(({ status }) => status).sort()
  assert.deepEqual([statuses[0], new Set(statuses.slice(1))], [201, new Set([409])])
})

test('H13: an import returns values only of plain variables and counts what was sent', async () => {
  const vars = [sent(nextKey(), { value: 'shown' }), sent(nextKey(), { value: canaryOf(a), is_secret: true })]
  const answer = await call(admin, 'POST', importPath, { vars: [...vars, vars[0]] })
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(answer.body, {
    total_variables_to_import: 3,
    successful_imported_variables: [vars[0], { ...vars[1], value: undefined }].map((one) =>
      JSON.parse(JSON.stringify(one)),
    ),
  })
})

test('H14: one invalid variable among ten thousand refuses the whole import and is named', async () => {
  for (const overwrite of [true, false]) {
    const vars = Array.from({ length: 10_000 }, (_, index) => sent(`H14_${index}`, { value: 'v'.repeat(200) }))
    vars[7777] = sent('BAD-NAME')
    assert.match(await refuses(400, 'POST', importPath, { overwrite, vars }), /^vars\[7777\]\.name: /)
  }
  const tooMany = Array.from({ length: 10_001 }, () => sent('A'))
  assert.match(await refuses(400, 'POST', importPath, { vars: tooMany }), /^vars must have at most 10000 entries/)
})

test('H14: ten thousand variables are written, and skipped without overwrite', async () => {
  const scopes = ['PROJECT', 'ENVIRONMENT', 'APPLICATION']
  const vars = Array.from({ length: 10_000 }, (_, index) =>
    sent(`MANY_${index}`, { scope: scopes[index % 3], is_secret: index % 5 === 0 }),
  )
  for (const [overwrite, written] of [
    [true, 10_000],
    [false, 0],
  ] as const) {
    const answer = await call(admin, 'POST', importPath, { overwrite, vars })
    assert.equal(answer.status, 201, answer.text.slice(0, 300))
    assert.equal(recordOf(answer).total_variables_to_import, 10_000)
    assert.equal(recordOf(answer).successful_imported_variables.length, written)
  }
  await database`delete from variable where key like 'MANY_%'`
})

test('H15: names of JavaScript members are imported unchanged, except reserved ones', async () => {
  await refuses(400, 'POST', importPath, { vars: [sent('__proto__')] })
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf']
  const answer = await call(admin, 'POST', importPath, { vars: names.map((name) => sent(name)) })
  assert.deepEqual(
    recordOf(answer).successful_imported_variables.map(({ name }: { name: string }) => name),
    names,
  )
  const { results } = recordOf(await call(admin, 'GET', `${application}/environmentVariable`))
  for (const name of names)
    assert.ok(
      results.some(({ key }: { key: string }) => key === name),
      name,
    )
  assert.equal(Object.getPrototypeOf({}), Object.prototype)
})

test('H16: no answer, row or log line contains an imported, overridden or renamed secret', async () => {
  const canary = 'IMPORTED-SECRET-CANARY'
  const vars = [sent('LEAK', { value: canary, is_secret: true })]
  const answers = [
    await call(admin, 'POST', importPath, { vars }),
    await call(admin, 'POST', importPath, { overwrite: true, vars }),
    await call(admin, 'POST', importPath, { vars: [...vars, sent('B-D')] }),
    await call(admin, 'POST', `${application}/secret/${mine.secrets.project}/override`, { value: canary }),
    await call(admin, 'POST', '/variable', { key: 'PLAIN-', value: canary, ...anywhere('PROJECT', mine.projectId) }),
    await call(admin, 'GET', `${application}/secret`),
    await call(admin, 'GET', `/variable?parent_id=${mine.applicationId}&scope=APPLICATION`),
  ]
  for (const { text } of answers) assert.equal(text.includes(canary), false, text.slice(0, 200))
  assert.ok(platform.logged.every((line) => !line.includes(canary)))
  const tables = await database<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public'`
  for (const { name } of tables) {
    const found = await database`select from ${database(name)} t where t::text like ${`%${canary}%`} limit 1`
    assert.equal(found.length, 0, name)
  }
})

test('H17: a secret shorter than six characters is not masked, so lines stay readable', () => {
  const mask = masker([new Secret('a'), new Secret('true'), new Secret('abcdef')])
  assert.equal(mask('a true line of abcdef'), 'a true line of ******')
})

test('D5, D6, D24: variables that A cannot see are unknown to aliases and overrides', async () => {
  const sort = { environmentVariable: theirs.variables, secret: theirs.secrets }
  const scopes = [`/project/${mine.projectId}`, `/environment/${mine.environmentId}`, application]
  for (const [word, ids] of Object.entries(sort)) {
    for (const id of [...Object.values(ids), unknownId]) {
      for (const scope of scopes) {
        await refuses(404, 'POST', `${scope}/${word}/${id}/override`, { value: 'x' })
        await refuses(404, 'POST', `${scope}/${word}/${id}/alias`, { key: nextKey() })
      }
      const place = { override_scope: 'APPLICATION', override_parent_id: mine.applicationId }
      await refuses(404, 'POST', `/variable/${id}/override`, { value: 'x', ...place })
    }
  }
  const other = await platform.addObjects(a)
  const unrelated = other.variables.environment
  await refuses(404, 'POST', `${application}/environmentVariable/${unrelated}/override`, { value: 'x' })
  const place = { alias_scope: 'APPLICATION', alias_parent_id: mine.applicationId }
  await refuses(404, 'POST', `/variable/${unrelated}/alias`, { key: nextKey(), ...place })
})

test('D9: a scope of B, of another kind or without an object is unknown in queries and bodies', async () => {
  const places = [
    ['PROJECT', theirs.projectId],
    ['ENVIRONMENT', theirs.environmentId],
    ['APPLICATION', theirs.applicationId],
    ['CONTAINER', mine.applicationId],
    ['PROJECT', mine.environmentId],
    ['ENVIRONMENT', unknownId],
  ] as const
  const base = mine.variables.project
  for (const [scope, id] of places) {
    assert.equal((await call(admin, 'GET', `/variable?parent_id=${id}&scope=${scope}`)).status, 404)
    await refuses(404, 'POST', '/variable', { key: nextKey(), value: '', ...anywhere(scope, id) })
    await refuses(404, 'POST', `/variable/${base}/alias`, { key: nextKey(), alias_scope: scope, alias_parent_id: id })
    await refuses(404, 'POST', `/variable/${base}/override`, {
      value: '',
      override_scope: scope,
      override_parent_id: id,
    })
    if (scope === 'PROJECT' || scope === 'ENVIRONMENT') continue
    await refuses(404, 'POST', `/variable/import?service_id=${id}&service_type=${scope}`, { vars: [sent('A')] })
  }
  await refuses(400, 'POST', '/variable', { key: nextKey(), value: '', ...anywhere('BUILT_IN', mine.projectId) })
})

test('D23: an import writes only to its service and the project and environment of that service', async () => {
  const vars = [
    sent('D23_P', { scope: 'PROJECT' }),
    sent('D23_E', { scope: 'ENVIRONMENT' }),
    sent('D23_S', { scope: 'APPLICATION' }),
  ]
  assert.equal((await call(admin, 'POST', importPath, { vars })).status, 201)
  const rows = await database`
    select coalesce(project_id, environment_id, service_id) as owner from variable where key like 'D23%' order by key`
  assert.deepEqual(
    rows.map((row) => row['owner']),
    [mine.environmentId, mine.projectId, mine.applicationId],
  )
  assert.match(
    await refuses(400, 'POST', importPath, { vars: [sent('A', { scope: 'BUILT_IN' })] }),
    /^vars\[0\]\.scope: /,
  )
})

test('C: a caller without WRITE in a scope writes nothing there by any path', async () => {
  const base = mine.variables.project
  for (const token of [a.tokens.READ, a.tokens.DEPLOY]) {
    const place = { alias_scope: 'APPLICATION', alias_parent_id: mine.applicationId }
    await refuses(403, 'POST', `/variable/${base}/alias`, { key: nextKey(), ...place }, token)
    await refuses(
      403,
      'POST',
      '/variable',
      { key: nextKey(), value: '', ...anywhere('PROJECT', mine.projectId) },
      token,
    )
    await refuses(403, 'POST', importPath, { vars: [sent('A')] }, token)
  }
  assert.equal((await call(a.tokens.READ, 'GET', `/variable?parent_id=${mine.projectId}&scope=PROJECT`)).status, 200)
})

test('no reply in the contract contains the value of a secret', () => {
  const withValue = operations.filter(([name, { reply }]) => {
    const properties = reply['properties']?.results?.items?.properties ?? reply['properties'] ?? {}
    return name.includes('Secret') && 'value' in properties
  })
  assert.deepEqual(
    withValue.map(([name]) => name),
    [],
  )
  const one = operations.find(([name]) => name === 'createApplicationSecretOverride')?.[1]
  assert.ok(one && pathOf(one, idsOf(one, mine)).endsWith('/override'))
})
