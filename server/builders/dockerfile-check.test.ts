import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipeOf } from './builder.cases.ts'
import { BuildError } from './builder.ts'
import { checkDockerfile, checkRegistries, missingDockerfile } from './dockerfile-check.ts'

const check = (text: string) => () => checkDockerfile(recipeOf('1', text))
const refusedFor = (reason: BuildError['reason']) => (error: unknown) =>
  error instanceof BuildError && error.reason === reason

test('accepts what builds from the repository', () => {
  for (const text of [
    'FROM scratch\n',
    '\uFEFF# syntax=docker/dockerfile:1\r\nFROM a\r\n',
    '# escape=`\n# an ordinary comment\nFROM scratch\n',
    'FROM a\n# syntax=ignored/here\nRUN x\n',
    'FROM a\nADD . /app\nADD --chown=1000 dist/app-$VERSION.tar.gz ./x /app/\nADD ["a b", "/c"]\n',
    'FROM a\nRUN curl http://example.com/\nCOPY --from=b /x $HOME/\n',
    'FROM a\nADD x $TARGET\n',
  ]) {
    assert.doesNotThrow(check(text), text)
  }
})

test('refuses every way to ask for another frontend', () => {
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

test('refuses every way to begin with, or to copy from, what was built for a service', () => {
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
    `FROM a\nRUN cat <<CMD\nCOPY --from=${someone} /x /y\nCMD`,
    `FROM a\nCOPY --from=later /x /y\nFROM ${someone} AS later`,
    `FROM a\nRUN --mount=type=bind,FROM=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=from=a,from=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=type=tmpfs,target="/a b" --mount=from=${someone},target=/x cat /x/y`,
    `FROM a\nRUN --mount=type=tmpfs,target=/a\\ b --mount="type=bind,from=${someone},target=/x" cat /x/y`,
    `# escape=\`\nFROM a\nRUN --mount=type=tmpfs,target=/a\` b --mount=from=${someone},target=/x cat /x/y`,
    `FROM a\nCOPY --chown="a b" --from='${someone}' /x /y`,
    `FROM a\nRUN cat <<CMD\nFROM \${NONE}${someone}\nCMD`,
    `ARG A=${someone}\nFROM a\nRUN cat <<CMD\nFROM \${A:?}\nCMD`,
  ]) {
    assert.throws(check(`${text}\n`), refusedFor('dockerfile'), text)
  }
  const given = { ...recipeOf('1', 'ARG BASE=a\nFROM $BASE\n'), variables: { BASE: someone } }
  assert.throws(() => checkDockerfile(given), refusedFor('dockerfile'))
})

test('refuses an image whose name cannot be told', () => {
  for (const text of [
    'FROM $NONE',
    'ARG X\nFROM a:$X',
    `ARG X=quay\nFROM \${X%y}side/a`,
    'FROM a\nCOPY --from=$X /a /b',
  ]) {
    assert.throws(check(`${text}\n`), /which image ".+" stands for cannot be told/, text)
  }
})

test('accepts other images, and stages by their names and numbers', () => {
  for (const text of [
    'FROM quayside/node:24 AS Build\nFROM build\nCOPY --from=build /a /b\nCOPY --from=0 /a /b',
    `ARG VERSION=24\nFROM node:\${VERSION}-alpine`,
    'FROM a AS build-amd64\nFROM a AS build-arm64\nFROM build-$TARGETARCH\nRUN --mount=type=cache,target=/c x',
    'FROM ghcr.io/quayside/x\nRUN echo --mount=from=quayside/x',
    'FROM a\nRUN python3 <<CMD\nfrom x import y\nCMD',
  ]) {
    assert.doesNotThrow(check(`${text}\n`), text)
  }
})

test('asks about each registry that images come from, and says which one may not be asked', async () => {
  const asked: string[] = []
  const text =
    'FROM a AS b\nFROM b\nCOPY --from=10.0.0.1:5000/x /a /b\nCOPY --from=localhost/x /a /b\nCOPY --from=ghcr.io/x/y /a /b\n'
  const ask = (refused?: string) => async (host: string) => {
    asked.push(host)
    return host === refused ? 'it is private.' : undefined
  }
  await checkRegistries(recipeOf('1', text), ask())
  assert.deepEqual([...new Set(asked)], ['10.0.0.1:5000', 'localhost', 'ghcr.io'])
  await assert.rejects(
    checkRegistries(recipeOf('1', text), ask('localhost')),
    /^BuildError: Dockerfile, line 4: "localhost\/x" is not fetched: it is private\.$/,
  )
})

test('refuses every way to let the engine open an address', () => {
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
    'RUN cat <<CMD\nADD http://a/b /x\nCMD',
  ]) {
    assert.throws(check(`FROM a\n${line}\n`), refusedFor('dockerfile'), line)
  }
})

test('says which line is refused', () => {
  assert.throws(check('FROM a\n\nADD http://a/b /x\n'), /Dockerfile, line 3: ADD may not fetch "http:\/\/a\/b"/)
})

test('refuses a file of very many instructions', () => {
  const text = (count: number) => `FROM a\n${'RUN x\n'.repeat(count)}`
  assert.doesNotThrow(check(text(999)))
  assert.throws(check(text(10_000)), /has 10001 instructions, and at most 1000 are built/)
})

test('refuses a file without FROM', () => {
  for (const text of ['', '# FROM a\n', 'ARG X\n']) assert.throws(check(text), refusedFor('dockerfile'), text)
})

test('names the whole path of a missing Dockerfile', () => {
  const error = missingDockerfile({ commit: 'abcdef0123456789', rootPath: '', dockerfile: 'Dockerfile' })
  assert.match(error.message, /at "Dockerfile" in commit abcdef012345\. Set dockerfile_path or root_path/)
})
