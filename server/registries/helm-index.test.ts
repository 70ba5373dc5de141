import assert from 'node:assert/strict'
import { test } from 'node:test'
import { index } from '../../test/support/outside.ts'
import { cpuMs } from '../lib/testing-cpu.ts'
import { readIndex } from './helm-index.ts'

test('an index of helm is read: only chart versions count, whatever their texts contain', () => {
  const charts = readIndex(index)
  assert.deepEqual(
    [...(charts ?? [])],
    [
      ['empty', []],
      [
        'web',
        [
          { version: '1.2.0', url: 'packed/web-1.2.0.tgz' },
          { version: '1.1.0', url: 'packed/web-1.1.0.tgz' },
        ],
      ],
    ],
  )
})

test('indented lists, quoted names, comments and lists on one line are read', () => {
  const text = `# made by hand
entries:
    "my-chart":   # the first
        -   version: '2.0.0'
            urls: ["https://charts.invalid/my-chart-2.0.0.tgz"]
        # between
        -   urls:
                - a.tgz
            version: 1.0.0 # the older
    other:
        - version: 3.0.0
`
  assert.deepEqual(
    [...(readIndex(text) ?? [])],
    [
      [
        'my-chart',
        [
          { version: '2.0.0', url: 'https://charts.invalid/my-chart-2.0.0.tgz' },
          { version: '1.0.0', url: 'a.tgz' },
        ],
      ],
      ['other', [{ version: '3.0.0', url: undefined }]],
    ],
  )
})

test('an index in JSON is read', () => {
  const text = JSON.stringify({ entries: { web: [{ version: '1.0.0', urls: ['w.tgz'] }, { urls: [] }] } })
  assert.deepEqual([...(readIndex(text) ?? [])], [['web', [{ version: '1.0.0', url: 'w.tgz' }]]])
})

test('other texts are not an index', () => {
  for (const text of ['', '<html>not found</html>', '{"a":1}', '{broken', 'a: b\nc: d\n']) {
    assert.equal(readIndex(text), undefined, text)
  }
})

test('an index of ten megabytes is read in one pass, and entries beyond the limits are skipped', () => {
  const version = (n: number): string => `  - version: 1.0.${n}\n    description: ${'x'.repeat(900)}\n`
  const text = `entries:\n  web:\n${Array.from({ length: 10_000 }, (_, n) => version(n)).join('')}`
  const before = cpuMs()
  assert.equal(readIndex(text)?.get('web')?.length, 1000)
  assert.ok(cpuMs() - before < 6000)
})
