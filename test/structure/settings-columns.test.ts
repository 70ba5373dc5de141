import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '..', '..')

/** JSON paths into settings of kinds: operators behind the column, and functions that get it. */
const paths = [
  /\b(?:advanced_)?settings"?\s*(?:->>?|#>>?|@>|@\?|@@|\?[|&]?\s*')/,
  /\bjsonb_(?:path_\w+|extract_path\w*|array_elements\w*|typeof|to_record\w*)\s*\([^()`]*\bsettings\b/i,
]
const reachesIn = (text: string): boolean =>
  paths.some((path) => text.split('\n').some((line) => path.test(line) && !/^\s*(?:\/\/|\*)/.test(line)))

/** Files that may reach into settings, each with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'server/disk/disk-store.ts':
    'expands the list of storages of a release into rows; a column would store the list twice',
  'server/disk/organization-store.ts': 'expands the list of storages of a service into rows',
  'server/domains/login-variable-store.ts':
    'asks which service has logins from a variable, only for a write that is about to be rejected',
  'server/environments/overview-store.ts': 'returns the icon, which all kinds store at the same place',
  'server/observations/observation-store.ts':
    'returns the ports of charts whole; a column would store them for all kinds',
}

for (const sql of [
  "where s.settings ->> 'accessibility' = 'PUBLIC'",
  "coalesce(settings #>> '{source,image,tag}', '')",
  "l.settings->'storage'",
  "where settings @> '{}'",
  "jsonb_path_query(s.settings, '$.storage[*]')",
  "(s.advanced_settings ->> 'job.max')::int",
]) {
  test(`a JSON path is found in: ${sql}`, () => assert.ok(reachesIn(sql)))
}

for (const text of [
  'update service set settings = $1 where id = $2',
  'const values = (settings) => settings',
  "jsonb_typeof(value -> 'a')",
  'select s.settings, s.image_name from service s',
]) {
  test(`no JSON path is found in: ${text}`, () => assert.ok(!reachesIn(text)))
}

test('queries read columns of settings, not JSON paths into them', () => {
  const found = sourceFiles().filter(
    (file) => file.startsWith('server/') && reachesIn(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(found, Object.keys(allowed).sort(), 'add a generated column in a migration, or a reason here')
})
