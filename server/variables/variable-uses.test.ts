import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { UsedVariable } from './use-view.ts'
import { usesOf } from './variable-uses.ts'

const variable = (id: string, more: Partial<UsedVariable>): UsedVariable => ({
  id,
  key: id.toUpperCase(),
  variable_type: 'VALUE',
  base_id: null,
  mount_path: null,
  enable_interpolation_in_file: false,
  named_keys: [],
  environment_id: null,
  service_id: null,
  ...more,
})
const inEnvironment = { environment_id: 'e' }
const inShop = { ...inEnvironment, service_id: 'shop' }
const inCart = { ...inEnvironment, service_id: 'cart' }
const builtIns = [
  { id: 'shop-host', key: 'SHOP_HOST', ownerId: 'shop' },
  { id: 'cart-host', key: 'CART_HOST', ownerId: 'cart' },
  { id: 'project-id', key: 'PROJECT_ID', ownerId: undefined },
]
const all = (variables: readonly UsedVariable[], limit = 100) =>
  usesOf({ variables, builtIns, environmentId: 'e' }, limit)
const used = (...variables: readonly UsedVariable[]): string[] =>
  all(variables).uses.map(({ id, kind, by }) => `${by.id} ${kind} ${id}`)
const linked = (...variables: readonly UsedVariable[]): string[] =>
  all(variables).links.map(({ service_id, refers_to_id, keys }) => `${service_id} ${refers_to_id} ${keys}`)

describe('a variable is used', () => {
  test('by its aliases and overrides', () => {
    const base = variable('base', {})
    const alias = variable('alias', { variable_type: 'ALIAS', base_id: 'base', ...inShop })
    const override = variable('override', { key: 'BASE', variable_type: 'OVERRIDE', base_id: 'base', ...inCart })
    assert.deepEqual(used(base, alias, override), ['alias ALIAS base', 'override OVERRIDE base'])
  })

  test('by a text that names it, in the meaning of each service that sees the text', () => {
    const url = variable('url', { ...inEnvironment, named_keys: ['HOST', 'UNKNOWN'] })
    const wide = variable('wide', { key: 'HOST' })
    const narrow = variable('narrow', { key: 'HOST', ...inShop })
    const elsewhere = variable('elsewhere', { key: 'HOST', environment_id: 'other' })
    assert.deepEqual(used(url, wide, narrow, elsewhere), ['url REFERENCE wide', 'url REFERENCE narrow'])
    const own = variable('own', { ...inShop, named_keys: ['HOST'] })
    assert.deepEqual(used(own, wide, narrow), ['own REFERENCE narrow'])
  })

  test('by a file only if references in it are replaced, also in an override of one', () => {
    const host = variable('host', {})
    const file = variable('file', { mount_path: '/etc/a', named_keys: ['HOST'] })
    const override = variable('o', { variable_type: 'OVERRIDE', base_id: 'file', named_keys: ['HOST'], ...inShop })
    assert.deepEqual(used(host, file, override), ['o OVERRIDE file'])
    assert.deepEqual(used(host, { ...file, enable_interpolation_in_file: true }), ['file REFERENCE host'])
  })
})

describe('services are linked', () => {
  test('by a reference to a built-in variable of another one, once for both keys', () => {
    const one = variable('one', { ...inShop, named_keys: ['CART_HOST', 'PROJECT_ID', 'SHOP_HOST'] })
    const two = variable('two', { ...inShop, named_keys: ['CART_HOST'] })
    assert.deepEqual(linked(one, two), ['shop cart ONE,TWO'])
  })

  test('by an alias, and by the references of its target', () => {
    const direct = variable('direct', { variable_type: 'ALIAS', base_id: 'cart-host', ...inShop })
    assert.deepEqual(linked(direct), ['shop cart DIRECT'])
    const shared = variable('shared', { ...inEnvironment, named_keys: ['CART_HOST'] })
    const alias = variable('alias', { variable_type: 'ALIAS', base_id: 'shared', ...inShop })
    assert.deepEqual(linked(shared, alias), ['null cart SHARED', 'shop cart ALIAS'])
  })

  test('not by the references of an inserted text, which is not searched again', () => {
    const shared = variable('shared', { ...inEnvironment, named_keys: ['CART_HOST'] })
    const own = variable('own', { ...inShop, named_keys: ['SHARED'] })
    assert.deepEqual(linked(shared, own), ['null cart SHARED'])
  })

  test('by a shared alias that a text names', () => {
    const alias = variable('alias', { variable_type: 'ALIAS', base_id: 'cart-host' })
    const own = variable('own', { ...inShop, named_keys: ['ALIAS'] })
    assert.deepEqual(linked(alias, own), ['null cart ALIAS', 'shop cart OWN'])
  })

  test('not if the key has another meaning there', () => {
    const hiding = variable('hiding', { key: 'CART_HOST', ...inShop })
    assert.deepEqual(linked(hiding, variable('own', { ...inShop, named_keys: ['CART_HOST'] })), [])
  })
})

test('a cycle of aliases ends', () => {
  const one = variable('one', { variable_type: 'ALIAS', base_id: 'two', ...inShop })
  const two = variable('two', { variable_type: 'ALIAS', base_id: 'one', ...inShop })
  assert.deepEqual(linked(one, two), [])
})

test('the search ends at its limit and says so', () => {
  const count = 300
  const keys = Array.from({ length: count }, (_, index) => `KEY_${index}`)
  const services = Array.from({ length: count }, (_, index) => ({ environment_id: 'e', service_id: `s${index}` }))
  const naming = keys.map((key) => variable(`naming-${key}`, { ...inEnvironment, key, named_keys: keys }))
  const hiding = services.map((at, index) => variable(`hiding-${index}`, { ...at, key: 'KEY_0' }))
  const started = performance.now()
  const { uses, isComplete } = all([...naming, ...hiding], 10_000)
  assert.deepEqual([uses.length, isComplete], [10_000, false])
  assert.ok(performance.now() - started < 2_000)
})
