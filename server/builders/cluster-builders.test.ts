import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError } from '../engines/index.ts'
import { explaining, isBelow } from './cluster-builders.ts'

test('an image of the registry of the clusters is recognised however its host is written', () => {
  const own = ['registry.test/team/a:1', 'Registry.TEST/team/a/b', 'registry.test:443/team/built-x@sha256:0']
  for (const image of own) assert.ok(isBelow(image, 'registry.test/team'), image)
  for (const image of ['registry.test/teams/a', 'registry.test:5000/team/a', 'other.test/registry.test/team/a']) {
    assert.ok(!isBelow(image, 'registry.test/team'), image)
  }
})

test('a deployment waits for a cluster that is away, and not for a builder that cannot start', async () => {
  const failing = (reason: 'unreachable' | 'refused') =>
    explaining(() => Promise.reject(new EngineError(reason, 'the image is missing')))
  const message = 'The builder of the cluster cannot be used: the image is missing.'
  await assert.rejects(failing('unreachable'), { reason: 'unreachable', message })
  await assert.rejects(failing('refused'), { reason: 'failed', message })
})
