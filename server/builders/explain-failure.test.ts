import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipeOf } from './builder.cases.ts'
import type { BuildError } from './builder.ts'
import { type BuildFailure, explainFailure } from './explain-failure.ts'

const recipe = recipeOf('1', 'FROM a\n', { targetStage: 'web' })
const explain = (change: Partial<BuildFailure>): BuildError =>
  explainFailure({ error: '', step: undefined, recipe, limited: true, ...change })
const step = { name: '[2/3] RUN npm ci', lastLines: ['npm error missing lockfile'] }

test('explainFailure names the failed step, its exit code and its last output', () => {
  const error = explain({ error: 'executor failed running [/bin/sh -c npm ci]: exit code: 1', step })
  assert.equal(error.reason, 'failed')
  assert.equal(
    error.message,
    'The build step "[2/3] RUN npm ci" failed with exit code 1. Correct the Dockerfile or what the step ' +
      'runs, and deploy again.\nLast lines:\n  npm error missing lockfile',
  )
})

test('explainFailure blames memory for a killed step only if memory is limited', () => {
  const killed = { error: 'executor failed running [x]: exit code: 137', step }
  assert.equal(explain(killed).reason, 'limits')
  assert.equal(explain({ ...killed, limited: false }).reason, 'failed')
})

const cases: [name: string, failure: Partial<BuildFailure>, reason: BuildError['reason'], message: RegExp][] = [
  [
    'a missing Dockerfile',
    { error: 'failed to read dockerfile: open /var/lib/docker/tmp/x/Dockerfile: no such file or directory' },
    'dockerfile',
    /no Dockerfile at "Dockerfile"/,
  ],
  [
    'a mistake in the Dockerfile, old wording and new',
    { error: 'failed to solve: dockerfile parse error on line 7: unknown instruction: FOO' },
    'dockerfile',
    /^Dockerfile, line 7: unknown instruction: FOO\./,
  ],
  ['a missing stage', { error: 'target stage web could not be found' }, 'dockerfile', /no stage named "web"/],
  [
    'a missing base image',
    {
      error: 'dial tcp: no such host',
      step: { name: '[internal] load metadata for docker.io/library/node:99', lastLines: [] },
    },
    'failed',
    /^The base image "node:99" is not on the engine and could not be fetched: dial tcp: no such host\. Correct the FROM/,
  ],
  [
    'a full disk',
    { error: 'exit code: 1', step: { name: 'RUN x', lastLines: ['write /x: No space left on device'] } },
    'disk-full',
    /disk of the builder is full/,
  ],
  [
    'layers without end',
    { error: 'failed to prepare xeegt3fi7lzfcn363t6w7xc9e: max depth exceeded' },
    'size',
    /more layers than the engine can stack, about 125/,
  ],
  [
    'what it does not know, without directories of the engine',
    { error: 'failed to solve with frontend dockerfile.v0: odd thing at /var/lib/docker/overlay2/abc/x: broken.' },
    'failed',
    /^The build failed: odd thing at \(engine\): broken\.$/,
  ],
]
for (const [name, failure, reason, message] of cases) {
  test(`explains ${name}`, () => {
    const error = explain(failure)
    assert.match(error.message, message)
    assert.equal(error.reason, reason)
  })
}
