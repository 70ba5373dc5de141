import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../lib/error.ts'
import { type ImportedVariable, type Present, planImport } from './plan-import.ts'

type Scope = Present['scope']
const scopes = ['PROJECT', 'ENVIRONMENT', 'SERVICE'] as const
const sent = (more: Partial<ImportedVariable> = {}): ImportedVariable => ({
  name: 'A',
  value: 'new',
  scope: 'APPLICATION',
  is_secret: false,
  ...more,
})
const there = (scope: Scope, more: Partial<Present> = {}): Present => ({
  id: `there ${scope}`,
  key: 'A',
  scope,
  isAlias: false,
  isSecret: false,
  ...more,
})
const plan = (vars: readonly ImportedVariable[], overwrite: boolean, present: readonly Present[] = []) => {
  let made = 0
  const builtInKeys = new Set(['QOVERY_PROJECT_ID'])
  return planImport(vars, { overwrite, present, builtInKeys, ownScope: 'APPLICATION', newId: () => `new ${++made}` })
}
/** The plan for one variable: `create`, `override <base>`, `replace <id>` or `skip`. */
function fateOf(variable: ImportedVariable, overwrite: boolean, present: readonly Present[]): string {
  const scope = variable.scope === 'SERVICE' ? 'APPLICATION' : variable.scope
  const { creations, replacements, written } = plan([{ ...variable, scope }], overwrite, present)
  const [made] = creations
  const [replaced] = replacements
  assert.equal(written.length, creations.length + replacements.length)
  if (made) return made.baseId === null ? 'create' : `override ${made.baseId}`
  return replaced ? `replace ${replaced.id}` : 'skip'
}

test('a new name is created at every scope, with and without overwrite', () => {
  for (const scope of scopes)
    for (const overwrite of [false, true]) assert.equal(fateOf(sent({ scope }), overwrite, []), 'create')
})

test('a scope of services of another kind is skipped', () => {
  for (const scope of ['CONTAINER', 'JOB', 'HELM', 'TERRAFORM'])
    for (const overwrite of [false, true]) assert.equal(fateOf(sent({ scope }), overwrite, []), 'skip')
})

test('without overwrite no existing variable changes, whatever its scope', () => {
  for (const existing of scopes)
    for (const scope of scopes) assert.equal(fateOf(sent({ scope }), false, [there(existing)]), 'skip')
})

test('with overwrite, the scope of the existing variable decides', () => {
  const table: Record<Scope, Record<Scope, string>> = {
    PROJECT: {
      PROJECT: 'replace there PROJECT',
      ENVIRONMENT: 'override there PROJECT',
      SERVICE: 'override there PROJECT',
    },
    ENVIRONMENT: { PROJECT: 'skip', ENVIRONMENT: 'replace there ENVIRONMENT', SERVICE: 'override there ENVIRONMENT' },
    SERVICE: { PROJECT: 'skip', ENVIRONMENT: 'skip', SERVICE: 'replace there SERVICE' },
  }
  for (const existing of scopes)
    for (const scope of scopes)
      assert.equal(fateOf(sent({ scope }), true, [there(existing)]), table[existing][scope], `${existing} ${scope}`)
})

test('the narrowest of several variables counts, in any order', () => {
  const present = [there('ENVIRONMENT'), there('SERVICE'), there('PROJECT')]
  assert.equal(fateOf(sent({ scope: 'ENVIRONMENT' }), true, present), 'skip')
  assert.equal(fateOf(sent(), true, present.toReversed()), 'replace there SERVICE')
  assert.equal(fateOf(sent(), true, [there('PROJECT'), there('ENVIRONMENT')]), 'override there ENVIRONMENT')
})

test('aliases, built-in names, and a secret for a variable or the other way round are skipped', () => {
  for (const overwrite of [false, true]) {
    for (const scope of scopes) {
      assert.equal(fateOf(sent({ scope }), overwrite, [there(scope, { isAlias: true })]), 'skip')
      assert.equal(fateOf(sent({ scope, is_secret: true }), overwrite, [there(scope)]), 'skip')
      assert.equal(fateOf(sent({ scope }), overwrite, [there(scope, { isSecret: true })]), 'skip')
    }
    assert.equal(fateOf(sent({ name: 'QOVERY_PROJECT_ID' }), overwrite, []), 'skip')
  }
  assert.equal(fateOf(sent({ is_secret: true }), true, [there('SERVICE', { isSecret: true })]), 'replace there SERVICE')
})

test('a name that is sent twice is created once, then treated as existing', () => {
  const twice = [sent({ value: '1' }), sent({ value: '2' })]
  const first = plan(twice, false)
  assert.deepEqual([first.creations.map(({ text }) => text), first.written], [['1'], twice.slice(0, 1)])
  const second = plan(twice, true)
  assert.deepEqual([second.creations.map(({ text }) => text), second.written], [['2'], twice])
  const narrower = plan([sent({ scope: 'PROJECT' }), sent()], true)
  assert.deepEqual(
    narrower.creations.map(({ scope, baseId }) => [scope, baseId]),
    [
      ['PROJECT', null],
      ['SERVICE', 'new 1'],
    ],
  )
  const wider = plan([sent(), sent({ scope: 'PROJECT' })], true)
  assert.deepEqual(
    wider.creations.map(({ scope }) => scope),
    ['SERVICE'],
  )
})

test('names of JavaScript properties are ordinary names', () => {
  const vars = ['constructor', 'toString', 'hasOwnProperty'].map((name) => sent({ name }))
  assert.deepEqual(
    plan(vars, true).creations.map(({ key }) => key),
    ['constructor', 'toString', 'hasOwnProperty'],
  )
})

test('all invalid fields are named, and nothing is planned', () => {
  const bad = (vars: readonly ImportedVariable[]) => (error: unknown) => {
    assert.ok(error instanceof AppError && error.code === 'invalid', String(error))
    void vars
    return error.message
  }
  const cases: [ImportedVariable[], RegExp][] = [
    [[sent(), sent({ name: '__proto__' })], /^vars\[1\]\.name: /],
    [[sent({ name: 'A=B' })], /^vars\[0\]\.name: /],
    [[sent({ name: 'QOVERY_OTHER' })], /^vars\[0\]\.name: .*QOVERY_/],
    [[sent({ value: 'a\0' })], /^vars\[0\]\.value: /],
    [[sent({ scope: 'BUILT_IN' })], /^vars\[0\]\.scope: /],
    [[sent({ name: '1' }), sent(), sent({ name: '2' })], /^vars\[0\]\.name: .*; also not valid: vars\[2\]\.name$/],
    [Array.from({ length: 15 }, () => sent({ name: '-' })), / and 5 more$/],
  ]
  for (const [vars, message] of cases) {
    assert.throws(
      () => plan(vars, true),
      (error) => message.test(bad(vars)(error)),
      String(message),
    )
  }
})
