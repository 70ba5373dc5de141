import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildParser, type ParserVersion, startParser } from '../support/buildkit-parser.ts'
import { assertAgreement, assertFaithful, hostileTexts, readHostile } from '../support/dockerfile-agreement.ts'

/**
 * Repeats `server/builders/dockerfile-agreement.test.ts` far more often. It may download Go
 * modules.
 */
for (const version of ['old', 'new'] satisfies ParserVersion[]) {
  test(`a hundred thousand hostile Dockerfiles mean the same here and in BuildKit (${version})`, async (t) => {
    const built = await buildParser(version, true)
    if (typeof built === 'string') return t.skip(built)
    const parser = startParser(built.program, t)
    let compared = 0
    const property = fc.asyncProperty(hostileTexts, async (text) => {
      const dockerfile = readHostile(text)
      if (!dockerfile || dockerfile.instructions.length === 0) return
      if (await assertAgreement(parser, version, dockerfile)) compared++
      if (version === 'new') await assertFaithful(parser, text, dockerfile)
    })
    await fc.assert(property, { numRuns: 100_000 })
    assert.ok(compared > 8000, `only ${compared} were compared`)
    t.diagnostic(`${compared} Dockerfiles were compared`)
    return undefined
  })
}
