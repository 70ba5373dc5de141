import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosen, fingerprint, furtherNames, missing, programOf, recipes, versionIn } from './image-recipes.mjs'
import { root } from './prepare.mjs'

test('furtherNames returns the longer versions of the series that clients request', () => {
  assert.deepEqual(furtherNames('postgres:15', '15.14-0+deb12u1'), ['postgres:15.14'])
  assert.deepEqual(furtherNames('redis:7', '5:7.0.15-1~deb12u5'), ['redis:7.0', 'redis:7.0.15'])
  assert.deepEqual(furtherNames('mysql:10.11', '1:10.11.14-0+deb12u2'), ['mysql:10.11.14'])
  assert.deepEqual(furtherNames('postgres:15', '17.2-1'), [])
})

test('versionIn finds the version in the output of a build', () => {
  assert.equal(versionIn('Step 2/9\nversion=15.14-0+deb12u1\n ---> 1f'), '15.14-0+deb12u1')
  assert.equal(versionIn('Step 2/9'), undefined)
})

test('chosen returns the recipes of the named databases, and throws when one is unknown', () => {
  assert.deepEqual(chosen([]), [...Object.keys(recipes), ...Object.keys(missing)])
  assert.deepEqual(chosen(['redis', 'postgresql']), ['postgresql', 'redis'])
  assert.deepEqual(chosen(['builder']), ['builder'])
  assert.throws(
    () => chosen(['oracle']),
    /recipe "oracle" does not exist. Known recipes: postgresql, mysql, redis, terraform, opentofu, mongodb, builder/,
  )
})

test('fingerprint differs when the recipes differ', () => {
  const all = Object.values(recipes).map(({ directory }) => fingerprint(root, ['base', directory]))
  assert.equal(new Set(all).size, all.length)
})

test('programOf returns an empty path for a recipe without a program, and undefined for an absent program', () => {
  const nowhere = { PATH: '/nowhere' }
  for (const recipe of Object.values(recipes)) {
    const expected = recipe.program === undefined ? '' : undefined
    assert.equal(programOf(recipe, nowhere), expected)
  }
  assert.equal(programOf({ program: 'node', setting: 'X' }, { ...nowhere, X: process.execPath }), process.execPath)
})
