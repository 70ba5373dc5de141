import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosen, fingerprint, furtherNames, missing, recipes, versionIn } from './image-recipes.mjs'
import { root } from './prepare.mjs'

test('an image is named by the series that clients ask for, and by the whole version', () => {
  assert.deepEqual(furtherNames('postgres:15', '15.14-0+deb12u1'), ['postgres:15.14'])
  assert.deepEqual(furtherNames('redis:7', '5:7.0.15-1~deb12u5'), ['redis:7.0', 'redis:7.0.15'])
  assert.deepEqual(furtherNames('mysql:10.11', '1:10.11.14-0+deb12u2'), ['mysql:10.11.14'])
  assert.deepEqual(furtherNames('postgres:15', '17.2-1'), [])
})

test('the version is read out of what the build prints', () => {
  assert.equal(versionIn('Step 2/9\nversion=15.14-0+deb12u1\n ---> 1f'), '15.14-0+deb12u1')
  assert.equal(versionIn('Step 2/9'), undefined)
})

test('recipes are chosen by the types of databases, and an unknown one is reported', () => {
  assert.deepEqual(chosen([]), [...Object.keys(recipes), ...Object.keys(missing)])
  assert.deepEqual(chosen(['redis', 'postgresql']), ['postgresql', 'redis'])
  assert.throws(() => chosen(['oracle']), /no recipe "oracle"; there are postgresql, mysql, redis, mongodb/)
})

test('recipes that differ have fingerprints that differ', () => {
  const all = Object.values(recipes).map(({ directory }) => fingerprint(root, ['base', directory]))
  assert.equal(new Set(all).size, all.length)
})
