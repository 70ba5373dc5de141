import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { haproxySuites, usesHaproxy } from './haproxy-suites.mjs'
import { listFiles } from './suites.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

test('tests that import the HAProxy of tests run with each later release, and other tests do not', () => {
  const suites = haproxySuites('node', { cwd: root, env: {} }, {})
  assert.deepEqual(
    suites.map(({ title }) => title),
    ['experimental', '14', '13'].map((name) => `Tests with the HAProxy of Debian ${name}`),
  )
  for (const { files } of suites) {
    for (const file of ['router/front/behind-haproxy.test.ts', 'server/routers/own/haproxy.test.ts']) {
      assert.ok(files.includes(file), file)
    }
    const others = ['router/endpoint-attacks.test.ts', 'router/front/tallies.test.ts']
    for (const file of [...others, 'bootstrap/haproxy-suites.test.mjs']) assert.ok(!files.includes(file), file)
  }
})

test('an import of several lines is found', () => {
  const lines = ['import {', '  haproxy,', "} from '../test/support/haproxy.ts'"].join('\n')
  assert.ok(usesHaproxy(`import test from 'node:test'\n${lines}\n`))
  assert.ok(!usesHaproxy(lines.replace('haproxy.ts', 'until.ts')))
})

test('helpers of tests do not choose HAProxy, so that the text of a test shows whether it uses it', () => {
  const users = listFiles(root).filter(
    (file) => /\.(ts|mjs)$/.test(file) && usesHaproxy(readFileSync(join(root, file), 'utf8')),
  )
  const others = users.filter((file) => !/\.(test\.(ts|mjs)|faults\.ts)$/.test(file) && !file.startsWith('bench/'))
  assert.deepEqual(others, [])
})
