import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { describeSchema } from './schema.ts'
import { testDatabase } from './testing.ts'

test('schema.sql equals the schema of the migrations (else: node server/database/emit-schema.ts)', async (t) => {
  const { sql } = await testDatabase(t)
  assert.equal(await readFile(new URL('schema.sql', import.meta.url), 'utf8'), await describeSchema(sql))
})

test('the description shows every kind of change', async (t) => {
  const { sql } = await testDatabase(t)
  const changes = [
    'create table extra (id int generated always as identity, double int generated always as (1 + 1) stored)',
    "alter table extra add column text varchar(7) not null default 'x'",
    'alter table extra add constraint extra_text check (length(text) > 0)',
    'create index extra_text_lower on extra (lower(text)) where id > 0',
    "create function extra_function() returns trigger language plpgsql as 'begin return new; end'",
    'create trigger extra_trigger before insert on extra for each row execute function extra_function()',
    'create domain extra_word as text check (length(value) > 0)',
    'create view extra_view as select id from extra',
  ]
  const seen = new Set([await describeSchema(sql)])
  for (const change of changes) {
    await sql.unsafe(change)
    const text = await describeSchema(sql)
    assert.ok(!seen.has(text), change)
    seen.add(text)
  }
})
