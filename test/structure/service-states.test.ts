import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const root = join(import.meta.dirname, '..', '..')
const store = 'server/services/state-store.ts'

/**
 * Whether a text has SQL that writes the state of a service: named, as a whole row, or as values
 * that are filled in.
 */
function writesState(text: string): boolean {
  const updates = text.matchAll(/\bupdate\s+(?:only\s+)?(?:public\.)?"?service"?\s[^`;]*?\bset\b([^`;]*)/gi)
  const inserts = text.matchAll(/\binsert\s+into\s+(?:public\.)?"?service"?\s*\(([^)]*)\)/gi)
  const merges = /\bmerge\s+into\s+(?:public\.)?"?service"?\s/i.test(text)
  const sets = [...updates].some(
    ([, set = '']) => /(?:^|[,(\s])"?state"?\s*[=,)]/.test(beforeWhere(set)) || /^\s*\$\{sql\(/.test(set),
  )
  return merges || sets || [...inserts].some(([, names = '']) => /(?:^|,)\s*"?state"?\s*(?:,|$)|\$\{/.test(names))
}

const beforeWhere = (set: string): string => set.split(/\b(?:where|from|returning)\b/i)[0] ?? ''

const dollar = '$'
for (const sql of [
  'update service set state = $1 where id = $2',
  'update service s\n  set name = 1, state = $1',
  'update service set (name, state) = (1, 2)',
  `update service set ${dollar}{sql(change)} where id = 1`,
  'insert into service (id, state) values (1, 2)',
]) {
  test(`SQL that writes a state is found: ${sql.replaceAll('\n', ' ')}`, () => assert.ok(writesState(sql)))
}

for (const sql of [
  'update service set release_id = $1 where state = $2',
  'update service set last_state = 1',
  'update service_thing set state = 1',
  'update deployment_target set state = 1',
  'insert into service (id, name) values (1, 2)',
]) {
  test(`other SQL is not taken for it: ${sql}`, () => assert.ok(!writesState(sql)))
}

test('one file writes the states of services', () => {
  const found = sourceFiles().filter((file) => writesState(readFileSync(join(root, file), 'utf8')))
  assert.deepEqual(found, [store], `write them with writeState of ${store}`)
})
