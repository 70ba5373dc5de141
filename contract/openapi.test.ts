import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openApi } from './openapi.ts'
import manifest from './package.json' with { type: 'json' }

test('the checked-in OpenAPI document is what the contract says', () => {
  const checkedIn = readFileSync(new URL('openapi.json', import.meta.url), 'utf8')
  assert.equal(checkedIn, `${JSON.stringify(openApi(manifest.version), null, 2)}\n`, 'run: npm run emit')
})
