import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { withoutFullStop } from '../lib/without-full-stop.ts'
import { mountsCache } from './build-identity.ts'
import { planBuild } from './build-plan.ts'
import { recipeOf } from './builder.cases.ts'
import { BuildError } from './builder.ts'
import { readEvents } from './docker/engine-events.ts'
import { checkDockerfile, checkFrontend } from './dockerfile-check.ts'
import { explainFailure } from './explain-failure.ts'
import { splitWords } from './words.ts'

/** Far above a linear reader's time on a slow machine, and far below a quadratic one's. */
const mostMs = 2000

/** CPU milliseconds of this process alone, so a busy machine does not count. */
function spent<T>(work: () => T): { readonly result: T; readonly ms: number } {
  const before = process.cpuUsage()
  const result = work()
  const { user, system } = process.cpuUsage(before)
  return { result, ms: (user + system) / 1000 }
}

const times = (text: string, count: number): string => text.repeat(count)
const hostile: Record<string, string> = {
  'a directive and blanks': `# a=y${times(' ', 900_000)}x\nFROM a\n`,
  'a syntax line and blanks': `# syntax=y${times(' ', 900_000)}x\nFROM a\n`,
  'here-documents without an end': `FROM a\n${times('RUN <<A\n', 100_000)}`,
  'many here-documents on one line': `FROM a\nRUN ${times('<<A ', 14_000)}\n${times('A\n', 14_000)}`,
  'here-documents of each line': `FROM a\n${times('RUN <<A\nA\n', 90_000)}`,
  'at signs': `FROM a\nADD ${times('@', 59_000)} /x\n`,
  'words of at signs': `FROM a\nADD ${times('@ ', 29_000)} /x\n`,
  'open quotes': `ARG A=${times('"\'', 29_000)}\nFROM a\n`,
  'escaped quotes': `ARG A=${times('"\\', 29_000)}\nFROM a\n`,
  'open braces': `ARG A=${times('${A:-', 10_000)}\nFROM $A\n`,
  'arguments that double': `ARG A=xxxxxxxx\n${times('ARG A=$A$A$A$A\n', 900)}FROM $A\n`,
  'continuation lines': `FROM a\nRUN ${times('\\\n', 450_000)}x\n`,
  'comments between continuation lines': `FROM a\nRUN x \\\n${times('#\n', 450_000)}y\n`,
  flags: `FROM a\nRUN ${times('--a ', 14_000)}\n`,
  mounts: `FROM a\nRUN --mount=${times('from=a,', 8_000)} x\n`,
  'dots of a name': `FROM ${times('a.', 29_000)}/b\n`,
  stages: times('FROM a\nCOPY --from=b /x /y\n', 30_000),
  brackets: `FROM a\nADD ${times('[', 59_000)} /x\n`,
  'empty lines': `${times('\n', 900_000)}FROM a\n`,
  'excessive length': times('x', 20_000_000),
}

for (const [name, text] of Object.entries(hostile)) {
  test(`a Dockerfile of ${name} is read or rejected at once`, () => {
    const recipe = recipeOf('1', text)
    const { ms } = spent(() => {
      for (const read of [
        checkFrontend,
        (one: typeof recipe) => checkDockerfile(planBuild(one), 'Dockerfile'),
        (one: typeof recipe) => mountsCache(one.dockerfileText),
      ]) {
        try {
          read(recipe)
        } catch (error) {
          assert.ok(error instanceof BuildError, String(error))
          assert.ok(error.message.length < 1000, 'a message does not repeat the text')
        }
      }
    })
    assert.ok(ms < mostMs, `${ms} ms`)
  })
}

test('explainFailure reads the engine’s message in linear time', async () => {
  const said = `${times(' .', 300_000)}x${times('failed to read dockerfile: ', 20_000)}${times('target stage ', 20_000)}${times('"a', 100_000)}`
  const step = { name: `[${times('] FROM ', 50_000)}`, lastLines: [] }
  const { ms } = spent(() => {
    explainFailure({ error: said, step, recipe: recipeOf('1', 'FROM a\n'), limited: true })
    withoutFullStop(said)
    splitWords(said)
  })
  assert.ok(ms < mostMs, `${ms} ms`)
  const line = JSON.stringify({ id: times('x', 30_000_000) })
  const pieces = Array.from({ length: Math.ceil(line.length / 16_384) }, (_, at) =>
    Buffer.from(line.slice(at * 16_384, (at + 1) * 16_384)),
  )
  const before = process.cpuUsage()
  let events = 0
  for await (const _ of readEvents(Readable.from(pieces, { objectMode: false }))) events++
  assert.equal(events, 1)
  const { user } = process.cpuUsage(before)
  assert.ok(user / 1000 < 2 * mostMs, `${user / 1000} ms`)
})
