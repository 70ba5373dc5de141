import assert from 'node:assert/strict'
import fc from 'fast-check'
import { readStages } from '../../server/builders/build-stages.ts'
import {
  type Dockerfile,
  DockerfileError,
  type Instruction,
  parseDockerfile,
  textOf,
  writeDockerfile,
} from '../../server/builders/dockerfile.ts'
import { jsonWords } from '../../server/builders/json-form.ts'
import { plainWords } from '../../server/builders/words.ts'
import type { BuildKitParser, ParserVersion, Reading } from './buildkit-parser.ts'

const blanks = ['\r', '\r\n', '\u0085', '\u00a0', '\u2028', '\u2029', '\u3000', '\f', '\v', '\0', '\ufeff', '\u200b']
const marks = [
  '\\',
  '\\\\',
  '`',
  '``',
  '"',
  "'",
  '#',
  '<<',
  '<<<',
  '$',
  `\${X}`,
  `\${X:-y}`,
  `\${X%y}`,
  '[',
  ']',
  ',',
  '=',
  '@',
  ':',
  '--',
  '-',
  'é',
  'à',
  '🚢',
]
const words = [
  'FROM',
  'from',
  'AS',
  'ADD',
  'COPY',
  'RUN',
  'ONBUILD',
  'ARG',
  'ENV',
  'CMD',
  'LABEL',
  'FOO',
  'a',
  'b',
  'scratch',
  'x y',
  'EOF',
  'http://h/p',
  'git@h:p',
  './d',
  '["a","b"]',
  '["a"] x',
  '[ "$X" = 1 ]',
  '--from=a',
  '--from=0',
  '--mount=type=bind,from=a,target=/x',
  '--mount=FROM=b',
  '--chown=1',
  '--platform=$X',
  '<<EOF',
  '<<-EOF',
  "<<'EOF'",
  '3<<"E"',
  '<< EOF',
  '<<-',
  'escape=`',
  'syntax=x',
  'check=skip=all',
  '# escape=`\n',
  '#escape=\\\n',
  'EOF\n',
  '\tEOF\n',
  '\\\n',
  '\\ \t\n',
  '`\n',
  '# c\n',
  '  # c \\\n',
]
const ends = ['\n', '\n', '\n', ' ', ' ', ' ', '\t', '\n\n', '\r\n']

const fragment = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...blanks) },
  { weight: 6, arbitrary: fc.constantFrom(...marks) },
  { weight: 10, arbitrary: fc.constantFrom(...words) },
  { weight: 8, arbitrary: fc.constantFrom(...ends) },
)
const noise = fc.array(fragment, { maxLength: 40 }).map((all) => all.join(''))

const rest = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: fc.constantFrom(...marks) }),
    {
      maxLength: 5,
    },
  )
  .map((all) => all.join(' '))
const line = fc.tuple(
  fc.constantFrom(
    'FROM a',
    'FROM a AS b',
    'from "a"',
    'ADD',
    'COPY',
    'copy',
    'RUN',
    'ONBUILD ADD',
    'ONBUILD RUN',
    'ARG',
    'ENV',
    'CMD',
    'USER',
    '# c',
    '',
    '  ',
  ),
  fc.constantFrom(' ', '  ', '\t', ' \\\n', '\\\n', ' \\\n# c\n', ' \\\n\n ', '\\ \n', ' `\n'),
  rest,
  fc.constantFrom('', '', '', ' \\', '\\\\', ' <<EOF\nADD http://h /x\nEOF', ' <<-E <<F\n\tE\nF'),
)
const lines = fc
  .tuple(
    fc.constantFrom('', '', '# escape=`\n', '\ufeff', '# check=x\n# escape=`\n', '#!x\n'),
    fc.array(line, { maxLength: 8 }),
  )
  .map(([first, all]) => `${first}FROM a\n${all.map((one) => one.join('')).join('\n')}\n`)

/**
 * Texts that parsers are likely to read differently. Most of them resemble a Dockerfile, the rest
 * is noise.
 */
export const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: noise },
  { weight: 3, arbitrary: lines },
  { weight: 1, arbitrary: fc.tuple(lines, noise).map(([a, b]) => a + b) },
)

/** Returns the parsed Dockerfile, or undefined if it is rejected with a message. */
export function readHostile(text: string): Dockerfile | undefined {
  try {
    return parseDockerfile(text)
  } catch (error) {
    assert.ok(error instanceof DockerfileError, `no message for ${JSON.stringify(text)}: ${error}`)
    return undefined
  }
}

/** Asserts that a written Dockerfile parses to the same instructions. */
export function assertStable(dockerfile: Dockerfile): void {
  const written = writeDockerfile(dockerfile)
  assert.deepEqual(parseDockerfile(written), dockerfile)
}

/**
 * Asserts that BuildKit reads the written Dockerfile as this parser read it. Returns false if
 * BuildKit rejects it, so there is nothing to compare.
 */
export async function assertAgreement(
  parser: BuildKitParser,
  version: ParserVersion,
  dockerfile: Dockerfile,
): Promise<boolean> {
  const { instructions, escapeCharacter } = dockerfile
  // The old version has no here-documents.
  if (version === 'old' && instructions.some(({ heredocs }) => heredocs.length > 0)) return false
  const reading = await parser.read(writeDockerfile(dockerfile))
  if (reading.error !== undefined) return false
  assert.equal(reading.escape, escapeCharacter)
  assert.deepEqual(
    (reading.nodes ?? []).map(({ keyword, flags, line, original, heredocs }) => ({
      keyword,
      flags: flags ?? [],
      line,
      original,
      heredocs: (heredocs ?? []).map(({ name, content }) => ({ name, content })),
    })),
    instructions.map((one) => ({
      keyword: one.keyword,
      flags: one.flags,
      line: one.line,
      original: textOf(one),
      heredocs: one.heredocs.map(({ name, lines: all }) => ({
        name,
        content: all.map((text) => `${text}\n`).join(''),
      })),
    })),
  )
  for (const [index, instruction] of instructions.entries()) {
    const words = wordsOf(instruction)
    const read = reading.nodes?.[index]?.words ?? []
    if (words) assert.deepEqual(read, words, textOf(instruction))
  }
  assertSources(reading, dockerfile)
  return true
}

/** Returns the words of an instruction that may copy from elsewhere. */
function wordsOf({ keyword, rest: text }: Instruction): readonly string[] | undefined {
  if (keyword === 'FROM') return plainWords(text)
  if (keyword !== 'ADD' && keyword !== 'COPY') return undefined
  // Such instructions are rejected before a build, because versions disagree about them.
  if (text.startsWith('[') && !jsonWords(text)) return undefined
  return jsonWords(text) ?? plainWords(text)
}

/** Asserts that both list the same stages and copy sources, by their names in the file. */
function assertSources({ stages, problem }: Reading, dockerfile: Dockerfile): void {
  if (problem !== undefined) return
  const read = readOrNothing(dockerfile)
  if (!read) return
  assert.deepEqual(
    (stages ?? []).map(({ name, base, froms }) => ({ name, base, froms: [...new Set(froms ?? [])].sort() })),
    read.stages.map(({ name, base, steps }) => ({
      name: name ?? '',
      base: base.written,
      froms: [
        ...new Set(
          steps.filter(({ instruction }) => !instruction.trigger).flatMap(({ sources }) => [...sources.keys()]),
        ),
      ].sort(),
    })),
  )
}

function readOrNothing(dockerfile: Dockerfile): ReturnType<typeof readStages> | undefined {
  try {
    return readStages(dockerfile, new Map())
  } catch (error) {
    assert.ok(error instanceof DockerfileError)
    return undefined
  }
}

/**
 * Asserts that the newest BuildKit reads the same instructions from the original, so only comments
 * are lost. Returns false if BuildKit rejects it.
 */
export async function assertFaithful(
  parser: BuildKitParser,
  text: string,
  { instructions }: Dockerfile,
): Promise<boolean> {
  const reading = await parser.read(text)
  if (reading.error !== undefined) return false
  assert.deepEqual(
    (reading.nodes ?? []).map(({ keyword, flags, line, heredocs }) => ({
      keyword,
      flags: flags ?? [],
      line,
      heredocs: (heredocs ?? []).map(({ name, content }) => ({ name, content: content.replaceAll('\r\n', '\n') })),
    })),
    instructions.map((one) => ({
      keyword: one.keyword,
      flags: one.flags,
      line: one.line,
      heredocs: one.heredocs.map(({ name, lines: all }) => ({
        name,
        content: all.map((body) => `${body}\n`).join(''),
      })),
    })),
  )
  return true
}
