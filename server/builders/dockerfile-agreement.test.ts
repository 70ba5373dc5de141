import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildParser, type ParserVersion, startParser } from '../../test/support/buildkit-parser.ts'
import {
  assertAgreement,
  assertFaithful,
  assertStable,
  hostileTexts,
  readHostile,
} from '../../test/support/dockerfile-agreement.ts'

/** Readers that disagree on a text are an attack. `npm run test:faults` tries far more texts. */
test('parseDockerfile reads back what writeDockerfile wrote, whatever the text', () => {
  let read = 0
  const property = fc.property(hostileTexts, (text) => {
    const dockerfile = readHostile(text)
    if (!dockerfile) return
    read++
    assertStable(dockerfile)
  })
  fc.assert(property, { numRuns: 3000 })
  assert.ok(read > 300, `only ${read} of 3000 texts were read`)
})

for (const version of ['old', 'new'] satisfies ParserVersion[]) {
  test(`BuildKit (${version}) reads a written Dockerfile as parseDockerfile does`, async (t) => {
    const built = await buildParser(version, false)
    if (typeof built === 'string') return t.skip(`${built} (npm run test:faults loads what is missing)`)
    const parser = startParser(built.program, t)
    let compared = 0
    const property = fc.asyncProperty(hostileTexts, async (text) => {
      const dockerfile = readHostile(text)
      if (!dockerfile || dockerfile.instructions.length === 0) return
      if (await assertAgreement(parser, version, dockerfile)) compared++
      if (version === 'new') await assertFaithful(parser, text, dockerfile)
    })
    await fc.assert(property, { numRuns: 2000 })
    assert.ok(compared > 150, `only ${compared} of 2000 texts were compared`)
    return undefined
  })
}
