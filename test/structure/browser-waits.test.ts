import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const folder = join(import.meta.dirname, '../browser')
/** Roles skip the page behind a dialog. Texts do not. */
const safe = /await (?:dialog[(.]|page\.getByText\()/

test('tests in a browser wait until something is gone by gone(), or in a dialog, or by its text', () => {
  const lines = readdirSync(folder).flatMap((file) =>
    readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .map((line) => `${file}: ${line.trim()}`),
  )
  const waits = lines.filter((line) => /state: '(?:detached|hidden)'/.test(line))
  assert.ok(waits.length > 0)
  assert.deepEqual(
    waits.filter((line) => !safe.test(line)),
    [],
  )
})
