import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredArguments, parseDockerfile } from './dockerfile.ts'

const argumentsOf = (text: string): string[] => [...declaredArguments(text)]

test('joins continuation lines over comments and empty lines', () => {
  const text = '# first\r\nFROM a\r\nrun one \\\r\n  # comment\r\n\r\n  two \\  \r\n  three\r\nCMD x\r\n'
  assert.deepEqual(parseDockerfile(text), [
    { keyword: 'FROM', rest: 'a', line: 2 },
    { keyword: 'RUN', rest: 'one   two   three', line: 3 },
    { keyword: 'CMD', rest: 'x', line: 8 },
  ])
})

test('joins a word that goes on in the next line, as the builder does', () => {
  const text = 'FR\\\nOM quay\\  \n# comment\nside/x\nADD http\\\n://a/b /x\n'
  assert.deepEqual(parseDockerfile(text), [
    { keyword: 'FROM', rest: 'quayside/x', line: 1 },
    { keyword: 'ADD', rest: 'http://a/b /x', line: 5 },
  ])
})

test('takes the escape character that the file names', () => {
  const text = '# escape=`\nFROM a\nRUN dir C:\\\nARG NEXT\nRUN one `\nARG PART\n'
  assert.deepEqual(argumentsOf(text), ['NEXT'])
})

test('finds the declared arguments of all stages', () => {
  const text = [
    'ARG VERSION=1',
    'FROM base:$VERSION AS build',
    'arg lower',
    'ARG QUOTED="a b" ARGUMENT=\'x y=z\' THIRD',
    'ARG WRAPPED=1 \\',
    '    SECOND=2',
    'RUN echo ARG NOT_ONE',
    'ENV ARG=1',
    '# ARG COMMENTED',
    'FROM scratch',
    'ARG LAST',
  ].join('\n')
  assert.deepEqual(argumentsOf(text), ['VERSION', 'lower', 'QUOTED', 'ARGUMENT', 'THIRD', 'WRAPPED', 'SECOND', 'LAST'])
})

test('does not take the body of a heredoc for instructions', () => {
  const text = 'FROM a\nRUN <<-"EOF" sh\n\tARG INSIDE\n\tEOF\nCOPY <<one <<two /\nARG A\none\nARG B\ntwo\nARG OUTSIDE\n'
  assert.deepEqual(argumentsOf(text), ['OUTSIDE'])
  const without = parseDockerfile(text, { heredocs: false }).filter(({ keyword }) => keyword === 'ARG')
  assert.deepEqual(
    without.map(({ rest }) => rest),
    ['INSIDE', 'A', 'B', 'OUTSIDE'],
  )
})

test('reads any text without complaint', () => {
  for (const text of [
    '',
    '\uFEFFFROM a',
    'RUN <<EOF',
    'RUN \\',
    '\\',
    'ARG',
    'ARG =x 1A',
    '"',
    'RUN "open',
    '#',
    '\0',
  ]) {
    assert.deepEqual(argumentsOf(text), [])
  }
  assert.equal(parseDockerfile('\uFEFFFROM a')[0]?.keyword, 'FROM')
})
