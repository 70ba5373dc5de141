import assert from 'node:assert/strict'
import { test } from 'node:test'
import { referencesOf } from '../releases/index.ts'
import { warningsOf } from './chart-warnings.ts'

const none = { files: [], set: [], set_json: [], set_string: [] }
const variables = new Map([['TOWN', { value: '', isSecret: false }]])
const missing = new Map([['TOWN', ['PLACE']]])

test('places of values that name a variable are found in files and in pairs', () => {
  const values = {
    ...none,
    files: [{ name: 'own.yaml', content: 'a: {{TOWN}}\nb: qovery.env.TOWN\nc: qovery.env.OTHER' }],
    set: [['a.b', 'x {{TOWN}}']],
    set_json: [['c', '{"d": "qovery.env.TOWN"}']],
  }
  assert.deepEqual(
    referencesOf(values).map(({ where, key }) => `${where}: ${key}`),
    ['own.yaml: TOWN', 'own.yaml: OTHER', 'set "a.b": TOWN', 'set_json "c": TOWN'],
  )
})

test('a place is warned of if its variable names none, or does not exist', () => {
  const references = [
    { where: 'own.yaml', key: 'TOWN' },
    { where: 'set "a"', key: 'OTHER' },
  ]
  assert.deepEqual(warningsOf(references, { variables, missing }), [
    'own.yaml refers to the variable TOWN, which contains {{PLACE}}. No variable has that name, so an empty text ' +
      'stands in its place.',
    'set "a" refers to the variable OTHER, which the service does not have.',
  ])
  assert.deepEqual(warningsOf(references.slice(0, 1), { variables, missing: new Map() }), [])
})

test('many warnings are counted', () => {
  const references = Array.from({ length: 50 }, () => ({ where: 'own.yaml', key: 'TOWN' }))
  const warnings = warningsOf(references, { variables, missing })
  assert.deepEqual([warnings.length, warnings.at(-1)], [21, 'There are 30 more such places.'])
})
