import assert from 'node:assert/strict'
import { test } from 'node:test'
import { declaredArguments } from './declared-arguments.ts'
import { DockerfileError, type Instruction, parseDockerfile, writeDockerfile } from './dockerfile.ts'

const argumentsIn = (text: string): string[] => [...declaredArguments(text)]
const read = (text: string): Partial<Instruction>[] =>
  parseDockerfile(text).instructions.map(({ keyword, rest, line }) => ({ keyword, rest, line }))

test('parseDockerfile joins continuation lines across comments and empty lines', () => {
  const text = '# first\r\nFROM a\r\nrun one \\\r\n  # comment\r\n\r\n  two \\  \r\n  three\r\nCMD x\r\n'
  assert.deepEqual(read(text), [
    { keyword: 'FROM', rest: 'a', line: 2 },
    { keyword: 'RUN', rest: 'one   two   three', line: 3 },
    { keyword: 'CMD', rest: 'x', line: 8 },
  ])
})

test('parseDockerfile joins a word that continues on the next line, as the builder does', () => {
  const text = 'FR\\\nOM quay\\  \n# comment\nside/x\nADD http\\\n://a/b /x\n'
  assert.deepEqual(read(text), [
    { keyword: 'FROM', rest: 'quayside/x', line: 1 },
    { keyword: 'ADD', rest: 'http://a/b /x', line: 5 },
  ])
})

test('parseDockerfile uses the escape character that the file names', () => {
  const text = '# escape=`\nFROM a\nRUN dir C:\\\nARG NEXT\nRUN one `\n ARG PART\n'
  assert.deepEqual(argumentsIn(text), ['NEXT'])
  assert.throws(() => parseDockerfile('# escape=x\nFROM a\n'), /Dockerfile, line 1: the escape character must be/)
  assert.throws(() => parseDockerfile('#escape=`\n# Escape=`\nFROM a\n'), /line 2: the directive "escape" occurs twice/)
})

test('parseDockerfile does not continue a line that ends with two escape characters', () => {
  assert.equal(read('FROM a\nRUN echo \\\\\nUSER b\n').length, 3)
})

test('declaredArguments finds the arguments of all stages', () => {
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
  assert.deepEqual(argumentsIn(text), ['VERSION', 'lower', 'QUOTED', 'ARGUMENT', 'THIRD', 'WRAPPED', 'SECOND', 'LAST'])
})

test('parseDockerfile does not read the body of a here-document as instructions', () => {
  const text = 'FROM a\nRUN <<-"EOF" sh\n\tARG INSIDE\n\tEOF\nCOPY <<one <<two /\nARG A\none\nARG B\ntwo\nARG OUTSIDE\n'
  assert.deepEqual(argumentsIn(text), ['OUTSIDE'])
  const [, run, copy] = parseDockerfile(text).instructions
  assert.deepEqual(run?.heredocs, [{ name: 'EOF', lines: ['\tARG INSIDE'] }])
  assert.deepEqual(
    copy?.heredocs.map(({ name }) => name),
    ['one', 'two'],
  )
})

test('parseDockerfile sees no here-document when "<<" is in quotes, in numbers or before a string', () => {
  for (const line of [
    'RUN echo "a <<B"',
    'RUN echo $((1<<2))',
    'RUN cat <<<"x"',
    'CMD cat <<B',
    'RUN ["a <<B"]',
    'RUN a \\<<B',
  ]) {
    assert.equal(parseDockerfile(`FROM a\n${line}\nUSER b\n`).instructions.length, 3, line)
  }
})

test('parseDockerfile rejects text that builders read differently, and names the line', () => {
  const cases: [line: string, problem: RegExp][] = [
    ['# x\r \\', /line 2: the character U\+000D is not allowed/],
    ['# x\u2028', /U\+2028/],
    ['RUN x\u0085', /U\+0085/],
    ['RUN\u00a0x', /U\+00A0/],
    ['RUN\u3000x', /U\+3000/],
    ['RUN\fx', /U\+000C/],
    ['RUN x\0', /U\+0000/],
    ['RUN \x1b[0m', /U\+001B/],
    ['\uFEFFUSER x', /U\+FEFF/],
    ['RUN \ud800', /U\+D800|not valid UTF-8/],
    ['RUN \ufffd', /not valid UTF-8/],
    ['K\u0130L x', /unknown instruction/],
    ['FOO bar', /line 2: unknown instruction: "FOO"/],
    ['RUN --mount=type=cache,target=/a\\ b x', /a flag contains the character "\\\\"/],
    ['RUN --mount="x y', /no closing quote/],
    ['COPY --from=é a b', /a flag contains the character "é"/],
    ['RUN cat << EOF', /builders read this line differently/],
    ['RUN cat <<E"O"F', /needs a name of letters/],
    ['RUN cat <<EOF', /the here-document "EOF" does not end/],
    ["RUN echo ' && cat <<EOF", /builders read this line differently/],
    [`RUN echo \${A%%x} && cat <<EOF`, /builders read this line differently/],
    ['ONBUILD ONBUILD RUN x', /ONBUILD must not contain another/],
    ['ONBUILD RUN cat <<EOF', /ONBUILD must not have a here-document/],
    ['\\', /unknown instruction: ""/],
    ['USER x \\ \\', /the instruction ends with \\, but no line follows/],
  ]
  for (const [line, problem] of cases) {
    assert.throws(
      () => parseDockerfile(`FROM a\n${line}`),
      (error: unknown) => {
        assert.ok(error instanceof DockerfileError, line)
        assert.match(error.message, problem)
        return true
      },
    )
  }
})

test('parseDockerfile reads text in any language', () => {
  const text = '\uFEFFFROM a\nLABEL x="Grüße, 東京, 🚢"\r\nRUN echo "é" # à la carte\n'
  assert.deepEqual(
    read(text).map(({ rest }) => rest),
    ['a', 'x="Grüße, 東京, 🚢"', 'echo "é" # à la carte'],
  )
})

test('parseDockerfile rejects too large or too many instructions and here-documents', () => {
  const cases: [text: string, problem: RegExp][] = [
    [`FROM a\n#${'x'.repeat(256 * 1024)}`, /the file is larger than 262144 bytes/],
    [`FROM a\nRUN ${'x'.repeat(60_000)}`, /line 2: the instruction is longer than 60000 bytes/],
    [`FROM a\nRUN ${'x\\\n'.repeat(60_001)}`, /line 2: the instruction is longer than 60000 bytes/],
    [`FROM a\nRUN <<E\n${'x'.repeat(60_001)}\nE\n`, /line 3: a line of the here-document/],
    [`FROM a\n${'RUN <<E\nE\n'.repeat(101)}`, /at most 100 here-documents/],
    [`FROM a\n${'RUN x\n'.repeat(1000)}`, /line 1001: a Dockerfile may have at most 1000 instructions/],
  ]
  for (const [text, problem] of cases) assert.throws(() => parseDockerfile(text), problem)
})

test('writeDockerfile writes each instruction on one line, the line it began on', () => {
  const text = [
    '# escape=`',
    '# comment',
    'from a as b',
    '',
    'RUN --mount="type=tmpfs,target=/a b" `',
    '  # comment',
    '  x && cat <<-E > /y',
    '\tbody',
    '\tE',
    'ONBUILD  copy  --chown=1  a  b',
    'CMD -- --x',
  ].join('\n')
  assert.equal(
    writeDockerfile(parseDockerfile(text)),
    '# escape=`\n\nFROM a as b\n\nRUN --"mount=type=tmpfs,target=/a b" x && cat <<-E > ' +
      '/y\n\tbody\nE\n\n\nONBUILD COPY --chown=1 a  b\nCMD -- --x\n',
  )
})
