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
 * Texts that are made to be read differently: half of them noise, half of them close to a
 * Dockerfile.
 */
export const hostileTexts: fc.Arbitrary<string> = fc.oneof(
  { weight: 1, arbitrary: noise },
  { weight: 3, arbitrary: lines },
  { weight: 1, arbitrary: fc.tuple(lines, noise).map(([a, b]) => a + b) },
)

/** The Dockerfile of a text; undefined if it is rejected with a message. */
export function readHostile(text: string): Dockerfile | undefined {
  try {
    return parseDockerfile(text)
  } catch (error) {
    assert.ok(error instanceof DockerfileError, `no message for ${JSON.stringify(text)}: ${error}`)
    return undefined
  }
}

/** Checks that a written Dockerfile reads the same, and is written the same again. */
export function assertStable(dockerfile: Dockerfile): void {
  const written = writeDockerfile(dockerfile)
  assert.deepEqual(parseDockerfile(written), dockerfile)
}

/**
 * BuildKit reads what is written as what was read here. Returns whether there was anything to
 * compare.
 */
export async function assertAgreement(
  parser: BuildKitParser,
  version: ParserVersion,
  dockerfile: Dockerfile,
): Promise<boolean> {
  const { instructions, escapeCharacter } = dockerfile
  // Versions without here-documents are sent none.
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

/** The words of an instruction that may take something from elsewhere. */
function wordsOf({ keyword, rest: text }: Instruction): readonly string[] | undefined {
  if (keyword === 'FROM') return plainWords(text)
  if (keyword !== 'ADD' && keyword !== 'COPY') return undefined
  // Rejected before a build: versions disagree.
  if (text.startsWith('[') && !jsonWords(text)) return undefined
  return jsonWords(text) ?? plainWords(text)
}

/** Stages, and what they take from elsewhere, by the names in the file. */
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
 * The newest BuildKit reads the original as the same instructions, if it reads it at all: nothing
 * but comments gets lost.
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
