import assert from 'node:assert/strict'
import { it } from 'node:test'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { readResult } from './read-result.ts'

const resource = (address: string, values: object, sensitive_values: object = {}) => ({
  address,
  mode: 'managed',
  type: 'a',
  name: 'b',
  provider_name: 'registry.example.org/a/a',
  values,
  sensitive_values,
})
const shown = (root_module: object, outputs: object = {}) => ({ values: { root_module, outputs } })

it('a result lists the resources of all modules, with sensitive values masked', () => {
  const inner = { resources: [resource('module.m.a.b', { list: [{ key: 'canary' }, 1] }, { list: [{ key: true }] })] }
  const { resources } = readResult(shown({ resources: [resource('a.b', { id: 'x' })], child_modules: [inner] }))
  assert.deepEqual(
    resources.map(({ address, attributes }) => [address, attributes]),
    [
      ['a.b', { id: 'x' }],
      ['module.m.a.b', { list: [{ key: '(sensitive)' }, 1] }],
    ],
  )
})

it('a result has outputs as texts, and leaves out those without a value', () => {
  const { outputs } = readResult(
    shown(
      {},
      {
        URL: { value: 'x' },
        'pass-word': { value: 'y', sensitive: true },
        list: { value: ['a', 1] },
        none: { value: null },
      },
    ),
  )
  assert.deepEqual(outputs, [
    { key: 'URL', value: 'x', isSecret: false },
    { key: 'pass_word', value: 'y', isSecret: true },
    { key: 'list', value: '["a",1]', isSecret: false },
  ])
})

it('secrets that no schema marks are hidden in attributes, and their outputs are secrets', () => {
  const shown = {
    values: {
      root_module: {
        resources: [{ address: 'a["canary-secret"]', values: { list: [{ text: 'is canary-secret' }], count: 1 } }],
      },
      outputs: { url: { value: 'https://canary-secret@host' }, open: { value: 'open' } },
    },
  }
  const { resources, outputs } = readResult(shown, masker([new Secret('canary-secret')]))
  assert.doesNotMatch(JSON.stringify(resources), /canary/)
  assert.deepEqual(resources[0]?.attributes, { list: [{ text: 'is ******' }], count: 1 })
  assert.deepEqual(
    outputs.map(({ key, isSecret }) => [key, isSecret]),
    [
      ['url', true],
      ['open', false],
    ],
  )
})

it('a result of an empty state is empty', () => {
  assert.deepEqual(readResult({ format_version: '1.0' }), { resources: [], outputs: [] })
})

it('a result that is nested very deeply is cut off', () => {
  let value: unknown = 'canary'
  for (let depth = 0; depth < 50_000; depth++) value = [value]
  const { resources } = readResult(shown({ resources: [resource('a.b', { value })] }))
  assert.match(JSON.stringify(resources), /\(sensitive\)/)
})

it('a list of a million modules takes time in proportion to its length', { timeout: 20_000 }, () => {
  const child_modules = Array.from({ length: 1_000_000 }, () => 0)
  assert.deepEqual(readResult({ values: { root_module: { child_modules } } }).resources, [])
})
