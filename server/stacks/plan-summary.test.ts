import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { planLines } from './plan-lines.ts'
import { summarizePlan } from './plan-summary.ts'

const change = (actions: string[], of: object = {}) => ({
  actions,
  before: null,
  after: null,
  after_unknown: {},
  before_sensitive: {},
  after_sensitive: {},
  ...of,
})
const plan = (...changes: [string, object][]) => ({
  resource_changes: changes.map(([address, one]) => ({ address, change: one })),
})

describe('summarizePlan', () => {
  it('counts effects and lists changed attributes', () => {
    const summary = summarizePlan(
      plan(
        ['a.new', change(['create'], { after: { name: 'x' }, after_unknown: { id: true } })],
        ['a.old', change(['delete'], { before: { name: 'y' } })],
        ['a.same', change(['no-op'], { before: { name: 'z' }, after: { name: 'z' } })],
        ['a.moved', change(['delete', 'create'], { before: { name: 'a' }, after: { name: 'b' } })],
        ['a.size', change(['update'], { before: { size: 1, name: 'n' }, after: { size: 2, name: 'n' } })],
      ),
    )
    assert.deepEqual(planLines(summary), [
      'The plan: 1 to create, 1 to change, 1 to replace, 1 to destroy.',
      '+ create a.new',
      '    id: (known after apply)',
      '    name: "x"',
      '- destroy a.old',
      '± replace a.moved',
      '    name: "a" → "b"',
      '~ change a.size',
      '    size: 1 → 2',
    ])
  })

  it('hides a value of which any part is sensitive, before or after', () => {
    const summary = summarizePlan(
      plan(
        [
          'a.deep',
          change(['create'], { after: { list: [{ key: 'canary' }] }, after_sensitive: { list: [{ key: true }] } }),
        ],
        [
          'a.was',
          change(['update'], { before: { text: 'canary' }, after: { text: 'x' }, before_sensitive: { text: true } }),
        ],
        ['a.whole', change(['create'], { after: { text: 'canary' }, after_sensitive: true })],
      ),
    )
    assert.doesNotMatch(JSON.stringify(summary), /canary/)
    assert.equal(planLines(summary).filter((line) => line.endsWith(': (sensitive)')).length, 3)
  })

  it('hides secrets that no schema marks as sensitive, before it cuts a text', () => {
    const text = `${'x'.repeat(110)} canary-secret-value`
    const summary = summarizePlan(
      plan(['a["canary-secret-value"]', change(['update'], { before: { text: 'old' }, after: { text } })]),
      masker([new Secret('canary-secret-value')]),
    )
    assert.doesNotMatch(JSON.stringify(summary), /canary/)
    assert.match(summary.resources[0]?.changes[0]?.after ?? '', /x \*+/)
  })

  it('changes nothing if there are only reads without effect, and says so', () => {
    const summary = summarizePlan({ ...plan(['a.b', change(['no-op'])]), output_changes: { url: change(['no-op']) } })
    assert.equal(summary.has_changes, false)
    assert.deepEqual(planLines(summary), ['The plan changes nothing.'])
  })

  it('has changes if only an output changes', () => {
    const summary = summarizePlan({ output_changes: { url: change(['update'], { before: 'a', after: 'b' }) } })
    assert.equal(summary.has_changes, true)
    assert.equal(planLines(summary).at(-1), 'Outputs that change: url.')
  })

  it('lists a limited number of resources and counts all', () => {
    const many = Array.from({ length: 1200 }, (_, n): [string, object] => [`a.b[${n}]`, change(['create'])])
    const summary = summarizePlan(plan(...many))
    assert.deepEqual([summary.counts.create, summary.resources.length], [1200, 500])
    assert.equal(planLines(summary).at(-1), '… and 700 more.')
  })

  it('is not confused by a plan of another form', () => {
    assert.throws(() => summarizePlan([]), TypeError)
    assert.equal(summarizePlan({ resource_changes: [null, 1, { change: 1 }], output_changes: [1] }).has_changes, false)
  })
})
