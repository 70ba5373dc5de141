import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDependencies } from './read-dependencies.ts'

const url = 'https://charts.example.org'
const entry = (name: string, version: string, repository = url): string =>
  `  - {name: ${name}, version: ${version}, repository: "${repository}"}\n`
const chart = (...entries: string[]): string => `name: web\nversion: 1.0.0\ndependencies:\n${entries.join('')}`
const problemOf = (files: Partial<Parameters<typeof readDependencies>[0]>): string =>
  Object(readDependencies({ chart: chart(entry('db', '1.x')), lock: undefined, present: [], ...files })).problem

test('charts that are missing have the versions of the lock', () => {
  const files = { chart: chart(entry('db', '1.x'), entry('cache', '2.x')), present: ['cache-2.0.0'] }
  assert.deepEqual(readDependencies({ ...files, lock: chart(entry('db', '1.2.3'), entry('cache', '2.0.0')) }), {
    needed: [{ name: 'db', version: '1.2.3', repository: url }],
  })
})

test('a chart that contains all needs no lock', () => {
  for (const present of [['db'], ['db-1.0.0'], ['db-v1']]) {
    assert.deepEqual(readDependencies({ chart: chart(entry('db', '1.x')), lock: undefined, present }), { needed: [] })
  }
  assert.deepEqual(readDependencies({ chart: 'name: web', lock: undefined, present: [] }), { needed: [] })
})

test('a chart used under two names is fetched once', () => {
  const twice = chart(entry('db', '1.x'), entry('db', '1.x'))
  assert.equal(
    Object(readDependencies({ chart: twice, lock: chart(entry('db', '1.2.3')), present: [] })).needed.length,
    1,
  )
})

test('what cannot be fetched is a problem with its name', () => {
  assert.match(problemOf({}), /charts "db", and has no Chart\.lock/)
  assert.match(problemOf({ present: ['db-more'] }), /charts "db"/)
  assert.match(problemOf({ lock: chart(entry('other', '1.0.0')) }), /does not have the chart "db"/)
  assert.match(problemOf({ lock: chart(entry('db', '1.0.0', 'https://evil.example')) }), /does not have the chart "db"/)
  for (const repository of ['file://../other', '@stable', '/etc', '']) {
    const named = chart(entry('db', '1.x', repository))
    assert.match(problemOf({ chart: named, lock: named }), /from which nothing is fetched/)
  }
})
