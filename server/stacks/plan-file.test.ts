import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ForeignJsonProblem } from '../lib/foreign-json.ts'
import { readPlan } from './plan-file.ts'
import { summarizePlan } from './plan-summary.ts'

const bytes = (text: string): Buffer => Buffer.from(text)
const summary = (text: string) => summarizePlan(readPlan(bytes(text)))
const created = (address: string) => ({ address, change: { actions: ['create'], after: { input: '}],{[\\"' } } })

describe('readPlan', () => {
  it('finds the parts of a plan between others, whatever their strings contain', () => {
    const plan = {
      'resource_changes"': 1,
      prior_state: { resource_changes: [created('a.wrong')], text: '\\' },
      resource_changes: [created('a.one'), created('a.two')],
      output_changes: { url: { actions: ['create'] } },
      resource_drift: [created('a.drift')],
      planned_values: [[{}]],
    }
    for (const text of [JSON.stringify(plan), JSON.stringify(plan, null, 2)]) {
      const { counts, resources, outputs, drift } = summary(text)
      assert.deepEqual([counts.create, outputs], [2, ['url']])
      assert.deepEqual(
        resources.map(({ address }) => address),
        ['a.one', 'a.two'],
      )
      assert.deepEqual(
        drift.map(({ address }) => address),
        ['a.drift'],
      )
      assert.equal(resources[0]?.changes[0]?.after, JSON.stringify('}],{[\\"'))
    }
  })

  it('returns the same summary as parsing the whole', () => {
    const plan = { format_version: '1.2', resource_changes: [created('a.one')], output_changes: {} }
    assert.deepEqual(summary(JSON.stringify(plan)), summarizePlan(plan))
  })

  it('is undefined for a text that is no object', () => {
    for (const text of ['', ' ', '[]', '1', '"{}"', '{', '}']) assert.equal(readPlan(bytes(text)), undefined, text)
    assert.deepEqual(readPlan(bytes(' {} ')), {})
  })

  it('rejects a resource that is not JSON, and one that is nested too deeply', () => {
    assert.throws(() => summary('{"resource_changes": [{"address": x}]}'), ForeignJsonProblem)
    assert.throws(() => summary('{"output_changes": }'), ForeignJsonProblem)
    const deep = `${'['.repeat(101)}${']'.repeat(101)}`
    assert.throws(() => summary(`{"output_changes": ${deep}}`), { message: 'is nested deeper than 100 levels' })
  })

  it('lists no resources of a member that is no list', () => {
    assert.deepEqual(summary('{"resource_changes": {"a": [1]}, "resource_drift": 1}').resources, [])
  })
})

describe('a plan of 32 MiB', () => {
  const size = 32 * 2 ** 20
  /** Repeats a text in one member, so that the plan has this size. */
  const filled = (before: string, part: string, after: string): Buffer => {
    const text = Buffer.alloc(size, part)
    const whole = Math.floor((size - before.length - after.length) / part.length) * part.length
    return Buffer.concat([bytes(before), text.subarray(0, whole), bytes(after)])
  }
  const bombs: readonly (readonly [string, () => Buffer])[] = [
    ['one string', () => filled('{"prior_state": "', 'x', '"}')],
    ['one string of escaped quotes', () => filled('{"prior_state": "', '\\"', '"}')],
    ['one string of backslashes', () => filled('{"prior_state": "', '\\\\', '"}')],
    ['opened lists', () => filled('{"prior_state": ', '[', '}')],
    ['closed lists', () => filled('{"prior_state": ', ']', '}')],
    ['commas', () => filled('{', ',', '}')],
    ['empty strings', () => filled('{"prior_state": [""', ',""', ']}')],
    ['empty resources', () => filled('{"resource_changes": [{}', ',{}', ']}')],
  ]
  for (const [name, make] of bombs) {
    it(`of ${name} is read with little memory, in time in proportion to its length`, () => {
      const json = make()
      const before = process.memoryUsage().heapUsed
      const startedAt = performance.now()
      try {
        summarizePlan(readPlan(json))
      } catch (error) {
        assert.ok(error instanceof ForeignJsonProblem || error instanceof TypeError, String(error))
      }
      assert.ok(performance.now() - startedAt < 60_000)
      assert.ok(process.memoryUsage().heapUsed - before < 64 * 2 ** 20)
    })
  }
})
