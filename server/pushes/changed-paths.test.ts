import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuMs } from '../lib/testing-cpu.ts'
import { needsPaths, type Restriction, whyNotChanged } from './changed-paths.ts'

const match = (value: string): Restriction => ({ mode: 'MATCH', value })
const exclude = (value: string): Restriction => ({ mode: 'EXCLUDE', value })
const deploys = (paths: string[] | undefined, root: string, ...restrictions: Restriction[]): boolean =>
  whyNotChanged(paths, root, restrictions) === undefined

test('only files below the root path are a reason to deploy', () => {
  assert.ok(deploys(['README.md'], '/'))
  assert.ok(deploys(['apps/a/main.js', 'README.md'], 'apps/a'))
  assert.ok(deploys(['apps/a/main.js'], '/apps/a/'))
  assert.ok(!deploys(['apps/ab/main.js', 'README.md'], 'apps/a'))
})

test('unknown paths and an empty commit are reasons to deploy', () => {
  assert.ok(deploys(undefined, 'apps/a', match('x'), exclude('y')))
  assert.ok(deploys([], 'apps/a', match('x')))
})

test('MATCH selects files anywhere in the repository, and one is enough', () => {
  assert.ok(deploys(['libs/common/x.js'], 'apps/a', match('apps/a'), match('libs/common')))
  assert.ok(!deploys(['apps/a/README.md'], 'apps/a', match('apps/a/src')))
  assert.ok(deploys(['apps/a/src/x.js'], 'apps/a', match('apps/a/src/')))
  assert.ok(deploys(['Dockerfile'], '/', match('Dockerfile')))
  assert.ok(!deploys(['Dockerfile.old'], '/', match('Dockerfile')))
  assert.ok(deploys(['Dockerfile.old'], '/', match('Dockerfile*')))
})

test('EXCLUDE ignores a push that changed only excluded files', () => {
  assert.ok(!deploys(['docs/a.md', 'docs/b.md'], '/', exclude('docs')))
  assert.ok(deploys(['docs/a.md', 'main.js'], '/', exclude('docs')))
  assert.ok(!deploys(['docs/a.md'], '/', match('docs'), exclude('docs/a.md')))
})

test('a service that accepts every change needs no paths', () => {
  assert.deepEqual([needsPaths('/', []), needsPaths('', []), needsPaths('./', [])], [false, false, false])
  assert.deepEqual([needsPaths('a', []), needsPaths('/', [exclude('x')])], [true, true])
})

test('K7: the largest list of paths is checked against 100 restrictions in less than a second of CPU', () => {
  const paths = Array.from({ length: 10_000 }, (_, index) => `packages/p${index % 1000}/src/file-${index}.ts`)
  const restrictions = Array.from({ length: 100 }, (_, index) => match(`apps/a${index}/src`))
  const started = cpuMs()
  assert.ok(!deploys(paths, '/', ...restrictions))
  const ms = cpuMs() - started
  assert.ok(ms < 1000, `${ms} ms`)
})
