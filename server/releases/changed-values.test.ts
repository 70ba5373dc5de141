import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../lib/secret.ts'
import { changedValues } from './changed-values.ts'
import type { ReleaseContent } from './unchanged.ts'

const content = (
  variables: Readonly<Record<string, string | Secret>>,
  files: ReleaseContent['workload']['files'] = [],
): ReleaseContent => ({ workload: { image: 'i', variables, files }, digest: '', passwordsIn: '' })

test('variables and files that differ are listed with both values', () => {
  const before = content({ A: '1', B: '1', C: '1' }, [{ path: '/a', content: 'old' }])
  const after = content({ A: '1', B: '2', D: '1', QOVERY_DEPLOYMENT_ID: 'x' }, [{ path: '/a', content: 'new' }])
  assert.deepEqual(
    changedValues(before, after).map(({ kind, name, before: old, after: young }) => [kind, name, old, young]),
    [
      ['VARIABLE', 'B', '1', '2'],
      ['VARIABLE', 'C', '1', null],
      ['VARIABLE', 'D', null, '1'],
      ['FILE', '/a', 'old', 'new'],
    ],
  )
})

test('the text of a secret is never listed, also not of a variable that became one', () => {
  const before = content({ A: new Secret('1'), B: 'plain', C: new Secret('same') })
  const after = content({ A: new Secret('2'), B: new Secret('3'), C: new Secret('same') })
  const found = changedValues(before, after)
  assert.deepEqual(
    found.map(({ name, before: old, after: young, is_secret }) => [name, old, young, is_secret]),
    [
      ['A', null, null, true],
      ['B', null, null, true],
    ],
  )
})
