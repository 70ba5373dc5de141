import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipeOf } from './builder.cases.ts'
import { BuildError } from './builder.ts'
import { checkDockerfile, missingDockerfile } from './dockerfile-check.ts'

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
    'ONBUILD ADD http://a/b /x',
    'RUN cat <<CMD\nADD http://a/b /x\nCMD',
  ]) {
    assert.throws(check(`FROM a\n${line}\n`), refusedFor('dockerfile'), line)
  }
})

test('says which line is refused', () => {
  assert.throws(check('FROM a\n\nADD http://a/b /x\n'), /Dockerfile, line 3: ADD may not fetch "http:\/\/a\/b"/)
})

test('refuses a file without FROM', () => {
  for (const text of ['', '# FROM a\n', 'ARG X\n']) assert.throws(check(text), refusedFor('dockerfile'), text)
})

test('names the whole path of a missing Dockerfile', () => {
  const error = missingDockerfile({ commit: 'abcdef0123456789', rootPath: '', dockerfile: 'Dockerfile' })
  assert.match(error.message, /at "Dockerfile" in commit abcdef012345\. Set dockerfile_path or root_path/)
})
