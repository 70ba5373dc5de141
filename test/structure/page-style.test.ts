import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { pageStyle } from '../../server/accounts/page-style.ts'

const tokensOf = (css: string): readonly string[] => [...css.matchAll(/--[\w-]+: [^;\n]+;/g)].map(([token]) => token)

test('the pages of the issuer have the colours and shapes of the console', () => {
  const ofConsole = new Set(
    tokensOf(readFileSync(new URL('../../console/src/style/base.css', import.meta.url), 'utf8')),
  )
  const ours = tokensOf(pageStyle)
  assert.ok(ours.length > 8, `${ours.length} tokens`)
  assert.deepEqual(
    ours.filter((token) => !ofConsole.has(token)),
    [],
  )
})
