import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planBuild } from './build-plan.ts'
import { recipeOf } from './builder.cases.ts'
import { BuildError } from './builder.ts'
import {
  checkDockerfile,
  checkFrontend,
  checkRegistries,
  checkTriggers,
  missingDockerfile,
} from './dockerfile-check.ts'

const check = (text: string) => () => checkRecipe(recipeOf('1', text))
const checkRecipe = (recipe: ReturnType<typeof recipeOf>): void => {
  checkFrontend(recipe)
  checkDockerfile(planBuild(recipe), recipe.dockerfile)
}
const refusedFor = (reason: BuildError['reason']) => (error: unknown) =>
  error instanceof BuildError && error.reason === reason

test('checkDockerfile accepts a Dockerfile that builds from the repository', () => {
  for (const text of [
    'FROM scratch\n',
    '\uFEFF# syntax=docker/dockerfile:1\r\nFROM a\r\n',
    '# escape=`\n# an ordinary comment\nFROM scratch\n',
    'FROM a\n# syntax=ignored/here\nRUN x\n',
    'FROM a\nADD . /app\nADD --chown=1000 dist/app-$VERSION.tar.gz ./x /app/\nADD ["a b", "/c"]\n',
    'FROM a\nRUN curl http://example.com/\nCOPY --from=b /x $HOME/\n',
    'FROM a\nADD x $TARGET\n',
    'FROM a\nRUN cat <<CMD\nADD http://a/b /x\nCMD\n',
    'FROM --platform=$BUILDPLATFORM a\n',
  ]) {
    assert.doesNotThrow(check(text), text)
  }
})

test('checkFrontend rejects every way to request another frontend', () => {
  for (const text of [
    '# syntax=attacker/frontend\nFROM a\n',
    '#SYNTAX = attacker/frontend@sha256:00\nFROM a\n',
    '\uFEFF# syntax=other/dockerfile:1\r\nFROM a\r\n',
    '#!/usr/bin/env docker\n# syntax=x\nFROM a\n',
    '# escape=`\n# syntax=x\nFROM a\n',
    '\n# comment\n#syntax=x\nFROM a\n',
    '// syntax=x\nFROM a\n',
    '{"syntax": "x"}\nFROM a\n',
  ]) {
    assert.throws(check(text), refusedFor('frontend'), text)
  }
})

const someone = 'quayside/0b2f6a1e-3c1d-4f0a-9a55-d5a3a9f0c001:0123456789012345678901234567890123456789'

test('checkDockerfile rejects every way to build on or copy from a service’s image', () => {
  for (const text of [
    `FROM ${someone}`,
    `from --platform=linux/amd64 ${someone} as base`,
    `FROM docker.io/${someone}`,
    `FROM index.docker.io/${someone}`,
    'FROM quayside/idle:1',
    'FROM "quayside/x"',
    'FROM quayside\\/x',
    `ARG BASE=${someone}\nFROM $BASE`,
    `ARG A=quayside\nARG B=\${A}/x\nFROM \${B}:1`,
    `FROM \${NONE:-${someone}}`,
    `ARG SET=1\nFROM \${SET:+${someone}}`,
    `FROM a\nCOPY --chown=1 --from=${someone} /x /y`,
    `FROM a\nRUN --mount=type=bind,from=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=from=${someone},target=/x --network=none cat /x/y`,
    `FROM a\nONBUILD COPY --from=${someone} /x /y`,
    `FROM a\nCOPY --from=later /x /y\nFROM ${someone} AS later`,
    `FROM a\nRUN --mount=type=bind,FROM=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=from=a,from=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=type=tmpfs,target="/a b" --mount=from=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=type=tmpfs,target=/a\\ b --mount="type=bind,from=${someone},target=/x" cat /x/y`,
    `# escape=\`\nFROM a\nRUN --mount=type=tmpfs,target=/a\` b --mount=from=${someone},target=/x cat /x/y`,
    `FROM a\nCOPY --chown="a b" --from='${someone}' /x /y`,
    `FROM a\n# comment\r \\\nCOPY --from=${someone} /x /y`,
    `FROM a\n# comment\u2028\\\nCOPY --from=${someone} /x /y`,
    `FROM a\nRUN --mount=type=bind,target=/\u00e0\u00a0--mount=from=${someone} x`,
    `FROM a\nCOPY "--from=${someone}" /x /y\nCOPY --"from=${someone}" /x /y`,
    'FROM sha256:0123456789abcdef',
    'FROM sha256:' + 'a'.repeat(64),
    'FROM ' + 'a'.repeat(64),
    'FROM base.quayside.invalid/image:x',
    'FROM a\nCOPY --from=99999999999999999999999 /x /y',
    'FROM a\nCOPY --from=1 /x /y',
    'FROM a\nCOPY --from=-1 /x /y',
    'FROM a\nRUN --mount=from=0,target=/x cat /x/y',
    'FROM a AS b\nONBUILD COPY --from=b /x /y',
  ]) {
    assert.throws(check(`${text}\n`), refusedFor('dockerfile'), text)
  }
  const given = { ...recipeOf('1', 'ARG BASE=a\nFROM $BASE\n'), variables: { BASE: someone } }
  assert.throws(() => checkRecipe(given), refusedFor('dockerfile'))
})

test('checkDockerfile rejects an image whose name is unknown before the build', () => {
  for (const text of [
    'FROM $NONE',
    'ARG X\nFROM a:$X',
    `ARG X=quay\nFROM \${X%y}side/a`,
    'FROM a\nCOPY --from=$X /a /b',
  ]) {
    assert.throws(check(`${text}\n`), /the image name ".+" cannot be resolved/, text)
  }
})

test('checkDockerfile accepts other images, and stages by name and number', () => {
  for (const text of [
    'FROM quayside/node:24 AS Build\nFROM build\nCOPY --from=build /a /b\nCOPY --from=0 /a /b',
    `ARG VERSION=24\nFROM node:\${VERSION}-alpine`,
    'FROM a AS build-amd64\nFROM a AS build-arm64\nFROM build-$TARGETARCH\nRUN --mount=type=cache,target=/c x',
    'FROM ghcr.io/quayside/x\nRUN echo --mount=from=quayside/x',
    'FROM a\nRUN python3 <<CMD\nfrom x import y\nCMD',
    `FROM a\nRUN cat <<CMD\nCOPY --from=${someone} /x /y\nCMD`,
  ]) {
    assert.doesNotThrow(check(`${text}\n`), text)
  }
})

test('checkRegistries asks about each registry of images, and names the refused one', async () => {
  const asked: string[] = []
  const text =
    'FROM a AS b\nFROM b\nCOPY --from=10.0.0.1:5000/x /a /b\nCOPY --from=localhost/x /a /b\nCOPY ' +
    '--from=ghcr.io/x/y /a /b\n'
  const ask = (refused?: string) => async (host: string) => {
    asked.push(host)
    return host === refused ? 'it is private.' : undefined
  }
  await checkRegistries(planBuild(recipeOf('1', text)), 'Dockerfile', ask())
  assert.deepEqual([...new Set(asked)], ['10.0.0.1:5000', 'localhost', 'ghcr.io'])
  await assert.rejects(
    checkRegistries(planBuild(recipeOf('1', text)), 'Dockerfile', ask('localhost')),
    /^BuildError: Dockerfile, line 4: the image "localhost\/x" must not be fetched: it is private\.$/,
  )
})

test('checkDockerfile rejects every way to make the engine open an address', () => {
  for (const line of [
    'ADD http://169.254.169.254/ /x',
    'add HTTPS://example.com/a.tgz /x',
    'ADD --chown=1 ./ok git@example.com:a/b /x',
    'ADD "http://a/b" /x',
    'ADD ht\\tp://a/b /x',
    'ADD ["http://a/b", "/x"]',
    'ADD ["./a", "ssh://a/b", "/x"]',
    'ADD github.com/a/b /x',
    'ADD $ADDRESS /x',
    'ADD h$REST /x',
    'ADD http:/$SLASH /x',
    'ADD \\\n  http://a/b /x',
    'ADD http\\\n://a/b /x',
    'AD\\\nD http://a/b /x',
    'ONBUILD ADD http://a/b /x',
    '# comment\r \\\nADD http://a/b /x',
    '# comment\u2028\\\nADD http://a/b /x',
    'ADD\u00a0http://a/b /x',
    'ADD ["ht\\\\tp://a/b", "/x"]',
    'ADD ["ht\\u0074p://a/b", "/x"]',
    'ADD ["./a", "/x"] http://a/b',
    'ADD ["http://a/b", "/x"] y',
    'ADD "a http://a/b b" /x',
    'ADD -- http://a/b /x',
    'ADD --chown="a b" http://a/b /x',
  ]) {
    assert.throws(check(`FROM a\n${line}\n`), refusedFor('dockerfile'), line)
  }
})

test('planBuild rejects ambiguous stages, and platforms that the engine would fetch itself', () => {
  for (const [text, problem] of [
    ['FROM a AS b\nFROM c AS B', /line 2: two stages have the name "b"/],
    ['FROM a\nCOPY --from=b /x /y\nFROM c AS b', /line 2: the stage "b" is not before this one/],
    ['FROM a AS b\nCOPY --from=b /x /y', /line 2: the stage "b" is not before this one/],
    ['FROM a AS scratch', /line 1: FROM must be followed by an image, and/],
    ['FROM a AS', /line 1: FROM must be followed by an image, and/],
    ['FROM a b', /line 1: FROM must be followed by an image, and/],
    ['FROM --platform=linux/riscv64 a', /line 1: the platform "linux\/riscv64" is not the engine's platform/],
    ['FROM --other=1 a', /does not support the flag "--other=1"/],
    ['RUN x\nFROM a', /line 1: only ARG may come before the first FROM\. Move RUN/],
  ] as const) {
    assert.throws(check(`${text}\n`), problem, text)
  }
})

test('planBuild does not expand a name that doubles with each argument', () => {
  const lines = Array.from({ length: 100 }, (_, index) => `ARG A${index + 1}=$A${index}$A${index}`)
  assert.throws(
    check(`ARG A0=xxxxxxxx\n${lines.join('\n')}\nFROM $A100\n`),
    /cannot be resolved|may have \d+ characters/,
  )
})

test('checkTriggers applies the same rules to ONBUILD instructions of a base image', () => {
  const ask = (trigger: string) => () => checkTriggers([trigger], 'node:24', { path: 'Dockerfile', line: 3 })
  for (const trigger of ['RUN npm ci', 'COPY --chown=1 . /app', 'ADD ./a.tar /x', 'ARG X', 'USER node']) {
    assert.doesNotThrow(ask(trigger), trigger)
  }
  for (const trigger of [
    'ADD http://127.0.0.1:1/x /y',
    'add ["ht\\u0074p://127.0.0.1:1/x", "/y"]',
    'ADD $X /y',
    'RUN x\nADD http://127.0.0.1:1/x /y',
    '# x\r \\\nADD http://127.0.0.1:1/x /y',
    'COPY --from=someone/else /x /y',
    'RUN --mount=type=bind,from=someone/else,target=/x cat /x/y',
    'RUN --mount=type=cache,target=/c x',
    'RUN cat <<E\nE',
    'ONBUILD ADD http://127.0.0.1:1/x /y',
    'FROM x',
    'MAINTAINER x',
    'FOO x',
    '# escape=`',
    '',
  ]) {
    assert.throws(
      ask(trigger),
      /^BuildError: Dockerfile, line 3: the base image "node:24" has the ONBUILD instruction "/,
      trigger,
    )
  }
})

test('checkDockerfile names the rejected line', () => {
  assert.throws(check('FROM a\n\nADD http://a/b /x\n'), /Dockerfile, line 3: ADD must not fetch "http:\/\/a\/b"/)
})

test('planBuild rejects a file with too many instructions', () => {
  const text = (count: number) => `FROM a\n${'RUN x\n'.repeat(count)}`
  assert.doesNotThrow(check(text(999)))
  assert.throws(check(text(10_000)), /at most 1000 instructions/)
})

test('checkDockerfile rejects a file without FROM', () => {
  for (const text of ['', '# FROM a\n', 'ARG X\n']) assert.throws(check(text), refusedFor('dockerfile'), text)
})

test('missingDockerfile names the whole path', () => {
  const error = missingDockerfile({ commit: 'abcdef0123456789', rootPath: '', dockerfile: 'Dockerfile' })
  assert.match(error.message, /at "Dockerfile" in commit abcdef012345\. Set dockerfile_path or root_path/)
})
