import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildOrder, isReserved, selectBuildArguments } from './build-order.ts'
import { recipeOf } from './builder.cases.ts'
import type { BuildRecipe } from './builder.ts'
import { parseDockerfile } from './dockerfile.ts'

const text = 'ARG A\nARG B=1\nFROM scratch\n'
const tagOf = (change: Partial<BuildRecipe>): string => buildOrder(recipeOf('1234-ab', text, change)).tag

test('buildOrder gives different recipes different tags, and the same recipe the same tag', () => {
  const changes: Partial<BuildRecipe>[] = [
    {},
    { commit: 'b'.repeat(40) },
    { rootPath: 'app' },
    { dockerfile: 'other/Dockerfile' },
    { targetStage: 'build' },
    { variables: { A: '1' } },
    { variables: { A: '2' } },
    { variables: { B: '1' } },
    { variables: { A: '1', B: '2' } },
    { rootPath: 'a', dockerfile: 'b' },
    { rootPath: 'a","b' },
    { secretsHash: 'one' },
    { secretsHash: 'two' },
  ]
  const tags = changes.map(tagOf)
  assert.equal(new Set(tags).size, changes.length)
  assert.deepEqual(changes.map(tagOf), tags)
  assert.match(tags[0] ?? '', /^quayside\/1234-ab:[0-9a-f]{40}$/)
})

test('buildOrder gives the same tag when only the order of variables, undeclared ones or limits differ', () => {
  const tag = tagOf({ variables: { A: '1', B: '2' } })
  assert.equal(tagOf({ variables: { B: '2', C: '3', A: '1' } }), tag)
  assert.equal(tagOf({ variables: { A: '1', B: '2' }, limits: { ...recipeOf('1', text).limits, memoryMiB: 1 } }), tag)
})

test('buildOrder passes only variables that are declared and not reserved', () => {
  const variables = { A: 'a=b\nc', SECRET: 'x', BUILDKIT_SYNTAX: 'evil', http_proxy: 'x', TARGETARCH: 'arm64' }
  const dockerfile = 'ARG A B BUILDKIT_SYNTAX http_proxy TARGETARCH toString\nFROM a\n'
  assert.deepEqual(selectBuildArguments(parseDockerfile(dockerfile), variables), { A: 'a=b\nc' })
})

test('isReserved reserves the names that steer the builder', () => {
  for (const name of [
    'BUILDKIT_SYNTAX',
    'BUILDKIT_CACHE_MOUNT_NS',
    'HTTP_PROXY',
    'no_proxy',
    'ALL_PROXY',
    'DOCKER_HOST',
  ]) {
    assert.ok(isReserved(name), name)
  }
  for (const name of ['PROXY', 'MY_HTTP_PROXY', 'NODE_ENV', 'TARGET', 'BUILD_NUMBER'])
    assert.ok(!isReserved(name), name)
})

test('buildOrder rejects a service whose id cannot be part of an image name', () => {
  for (const service of ['', 'UPPER', 'a/b', 'a:b', '../x', '-a', 'a b']) {
    assert.throws(() => buildOrder(recipeOf(service, text)), /cannot be part of an image name/)
  }
})
