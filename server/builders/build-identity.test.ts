import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildIdentity, mountsCache } from './build-identity.ts'
import { limits, recipeOf } from './builder.cases.ts'

const text = 'FROM a\nARG COLOUR\n'
const repository = 'https://git.example/shop.git'
const recipe = recipeOf('one', text, { variables: { COLOUR: 'red', OTHER: 'x' } })
const identity = buildIdentity(recipe, repository)

test('buildIdentity ignores the owner, the limits and variables that the Dockerfile does not declare', () => {
  assert.match(identity ?? '', /^[0-9a-f]{64}$/)
  for (const change of [
    { service: 'two' },
    { limits: { ...limits, cpuMilli: 1, memoryMiB: 1, timeoutSeconds: 1 } },
    { variables: { COLOUR: 'red', OTHER: 'y' } },
  ])
    assert.equal(buildIdentity({ ...recipe, ...change }, repository), identity, JSON.stringify(change))
})

test('buildIdentity changes with everything that decides what is in the image', () => {
  const others = [
    { commit: 'f'.repeat(40) },
    { rootPath: 'other' },
    { dockerfile: 'Other' },
    { targetStage: 'other' },
    { variables: { COLOUR: 'blue', OTHER: 'x' } },
    { secretsHash: 'other' },
    { hasOwnDockerfile: true },
    { hasOwnDockerfile: true, dockerfileText: `${text}RUN other` },
    { ignoreFile: { path: '.dockerignore', text: '.env' } },
    { ignoreFile: { path: '.dockerignore', text: '*.env' } },
  ].map((change) => buildIdentity({ ...recipe, ...change }, repository))
  const all = [identity, buildIdentity(recipe, `${repository}2`), ...others]
  assert.equal(new Set(all).size, all.length)
})

test('buildIdentity is undefined if a step may mount a cache, however that is written', () => {
  for (const line of [
    'RUN --mount=type=cache,target=/c x',
    'RUN --network=none --mount=target=/c,type=cache x',
    'RUN --mount="type=cache",target=/c x',
    "RUN --mount=ty'pe=ca'che,target=/c x",
    'RUN --mount=type=ca\\\nche,target=/c x',
    'RUN --MOUNT=TYPE=CACHE,target=/c x',
    'RUN --mount=type=$KIND,target=/c x',
    'ONBUILD RUN --mount=type=cache,target=/c x',
  ]) {
    assert.equal(mountsCache(`FROM a\n${line}\n`), true, line)
    assert.equal(buildIdentity({ ...recipe, dockerfileText: `FROM a\n${line}\n` }, repository), undefined)
  }
  for (const line of [
    'RUN --mount=type=secret,id=A x',
    'RUN x --mount=type=cache',
    'RUN echo $X cache',
    '# cache',
    'RUN cat <<X\nRUN --mount=type=cache,target=/c x\nX',
  ])
    assert.equal(mountsCache(`FROM a\n${line}\n`), false, line)
})
