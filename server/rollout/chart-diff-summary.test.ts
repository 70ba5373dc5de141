import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChangedField, ChartChange } from '../engines/index.ts'
import { masker } from '../lib/masker.ts'
import { Secret } from '../lib/secret.ts'
import { diffLines } from './chart-diff-lines.ts'
import { summarizeDiff } from './chart-diff-summary.ts'

const none = (text: string): string => text
const field = (path: string, before?: string, after?: string): ChangedField => ({
  ...{ path, before, after },
  isHidden: false,
})
const change = (kind: ChartChange['change'], fields: readonly ChangedField[] = [], more = {}): ChartChange => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', change: kind, fields, omitted: 0 },
  ...more,
})
const fieldOf = (one: ChangedField, mask = none) => summarizeDiff([change('CHANGE', [one])], mask).objects[0]?.fields[0]

test('a summary counts changes, and lists them as the API does', () => {
  const changes = [change('CREATE', [], { namespace: 'other' }), change('CHANGE', [field('a', '1', '2')])]
  assert.deepEqual(summarizeDiff(changes, none), {
    counts: { create: 1, change: 1, delete: 0 },
    has_changes: true,
    objects: [
      {
        ...{ api_version: 'v1', kind: 'ConfigMap', name: 'c', namespace: 'other', change: 'CREATE' },
        ...{ fields: [], omitted_fields: 0 },
      },
      {
        ...{ api_version: 'v1', kind: 'ConfigMap', name: 'c', namespace: null, change: 'CHANGE' },
        ...{ fields: [{ path: 'a', before: '1', after: '2', is_hidden: false }], omitted_fields: 0 },
      },
    ],
  })
  assert.deepEqual(summarizeDiff([], none), {
    ...{ counts: { create: 0, change: 0, delete: 0 }, has_changes: false, objects: [] },
  })
})

test('a secret at the place where a value is cut is hidden as a whole', () => {
  const mask = masker([new Secret('hunter2hunter2')])
  const long = (end: string) => `"${'x'.repeat(110)}${end}"`
  const shown = fieldOf(field('a', undefined, long('hunter2hunter2')), mask)
  assert.match(shown?.after ?? '', /x\*{6}/)
  const whole = JSON.stringify(summarizeDiff([change('CHANGE', [field('hunter2hunter2', '1', '2')])], mask))
  assert.doesNotMatch(whole, /hunt/)
})

test('a member of which only a secret differs is hidden', () => {
  const mask = masker([new Secret('the old one'), new Secret('the new one')])
  const shown = fieldOf(field('a', '"is the old one"', '"is the new one"'), mask)
  assert.deepEqual(shown, { path: 'a', before: null, after: null, is_hidden: true })
})

test('of long values the parts that differ are shown', () => {
  const long = (word: string) => `"${'x'.repeat(5_000)}${word}${'y'.repeat(5_000)}"`
  const shown = fieldOf(field('a', long('one'), long('two')))
  assert.match(shown?.before ?? '', /^…x{30}oney+…$/)
  assert.match(shown?.after ?? '', /^…x{30}twoy+…$/)
})

test('thousands of objects with many fields stay within the limits, and are counted', () => {
  const fields = Array.from({ length: 50 }, (_, at) => field(`p${at}`, 'a'.repeat(500), 'b'.repeat(500)))
  const changes = Array.from({ length: 2_000 }, () => change('CHANGE', fields, { omitted: 7 }))
  const diff = summarizeDiff(changes, none)
  assert.equal(diff.counts.change, 2_000)
  assert.equal(diff.objects.length, 500)
  assert.ok(JSON.stringify(diff).length < 700_000)
  assert.deepEqual(diff.objects.at(-1)?.omitted_fields, 57)
  assert.ok(diffLines(diff).includes('… and 1500 more.'))
})

test('the lines of a log show what changes', () => {
  const changes = [
    change('CREATE', [field('data.a', undefined, '1')]),
    change('CHANGE', [field('data.a', '1', '2'), { ...field('data.b'), isHidden: true }, field('data.c', '3')], {
      ...{ namespace: 'other', omitted: 2 },
    }),
    change('DELETE'),
  ]
  assert.deepEqual(diffLines(summarizeDiff(changes, none)), [
    'Create ConfigMap c',
    'Change ConfigMap c in the namespace other',
    '  data.a: 1 → 2',
    '  data.b: ******',
    '  data.c: 3 → absent',
    '  … and 2 more field(s)',
    'Delete ConfigMap c',
    '3 object(s) would change. Nothing was installed.',
  ])
})
