import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Secret } from '../lib/secret.ts'
import { type Definition, resolve } from './resolve.ts'

const scopes = ['PROJECT', 'ENVIRONMENT', 'SERVICE'] as const
const builtIn = { id: 'b', key: 'BUILT_IN', value: 'platform' }
const draft = fc.record({
  scope: fc.nat(2),
  key: fc.constantFrom('A', 'B', 'C', 'D', 'BUILT_IN'),
  type: fc.constantFrom('VALUE', 'ALIAS', 'OVERRIDE'),
  base: fc.nat(30),
  isSecret: fc.boolean(),
})
type Draft = typeof draft extends fc.Arbitrary<infer T> ? T : never

/**
 * A chain of one service as the rules allow it: no alias of an alias, overrides at a narrower
 * scope, each key once per scope.
 */
function chainOf(drafts: readonly Draft[]): Definition[] {
  const found: Definition[] = []
  for (const [index, { scope, key, type, base: choice, isSecret }] of drafts.entries()) {
    const bases = found.filter((one) => scopes.indexOf(one.scope) <= scope && one.type !== 'ALIAS')
    const base = bases[choice % (bases.length + 1)]
    const text = isSecret ? new Secret(`text ${index}`) : `text ${index}`
    const own = { id: `v${index}`, scope: scopes[scope] ?? 'SERVICE', mountPath: undefined, interpolatesFile: false }
    const isWider = !base || scopes.indexOf(base.scope) < scope
    const next: Definition =
      type === 'ALIAS'
        ? { ...own, key, type, text: undefined, baseId: base?.id ?? builtIn.id }
        : type === 'OVERRIDE' && isWider
          ? { ...own, key: base?.key ?? builtIn.key, type, text, baseId: base?.id ?? builtIn.id }
          : { ...own, key, type: 'VALUE', text, baseId: undefined }
    if (!found.some((one) => one.key === next.key && one.scope === next.scope)) found.push(next)
  }
  return found
}

/**
 * The rule in its plainest form: the narrowest variable of a key; an alias has its target's text.
 */
function expected(definitions: readonly Definition[], key: string): string | Secret | undefined {
  const winner = scopes
    .toReversed()
    .flatMap((scope) => definitions.filter((one) => one.scope === scope && one.key === key))[0]
  if (!winner) return key === builtIn.key ? builtIn.value : undefined
  if (winner.type !== 'ALIAS') return winner.text
  return winner.baseId === builtIn.id ? builtIn.value : definitions.find(({ id }) => id === winner.baseId)?.text
}

test('in any chain the narrowest wins, an alias has its target’s text, and secrets stay secret', () => {
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 15 }), fc.nat(), (drafts, seed) => {
      const definitions = chainOf(drafts)
      const shuffled = definitions.toSorted((a, b) => ((a.id.length * 7 + seed) % 5) - ((b.id.length * 7 + seed) % 5))
      const { variables } = resolve(shuffled, [builtIn])
      assert.deepEqual(
        [...variables.keys()].sort(),
        [...new Set([builtIn.key, ...definitions.map(({ key }) => key)])].sort(),
      )
      for (const [key, { value, isSecret }] of variables) {
        const wanted = expected(definitions, key)
        assert.equal(isSecret, wanted instanceof Secret)
        const plain = (text: typeof wanted) => (text instanceof Secret ? text.reveal() : text)
        assert.equal(plain(value), plain(wanted))
      }
    }),
    { numRuns: 2000 },
  )
})
