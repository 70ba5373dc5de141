import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'

// PostgreSQL aborts transactions, as it does under concurrent work. Clients do not notice.

const platform = await createPlatform({ after })
const { a, call, database } = platform
const path = `/application/${a.objects.applicationId}/environmentVariable`

test('writes whose transactions PostgreSQL aborts are retried and stored once', async () => {
  await database`create sequence attempts`
  // A sequence keeps its value when a transaction is rolled back. Every fifth attempt fails, in
  // turn as a deadlock and as a serialization failure.
  await database.unsafe(`
    create function give_way() returns trigger language plpgsql as $$
    declare attempt bigint := nextval('attempts');
    begin
      if attempt % 5 = 0 then
        raise exception 'made up' using errcode = case attempt % 2 when 0 then '40P01' else '40001' end;
      end if;
      return new;
    end $$`)
  await database`create trigger give_way before insert on variable for each row execute function give_way()`
  const write = async (n: number) => call(a.tokens.WRITE, 'POST', path, { key: `KEY_${n}`, value: 'text' })
  for (let n = 0; n < 100; n += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, (_, more) => write(n + more)))
    for (const { status, text } of answers) assert.equal(status, 201, text)
  }
  const [row] = await database<{ keys: number; attempts: number }[]>`
    select count(*)::int as keys, (select last_value from attempts)::int as attempts
    from variable where key like 'KEY_%'`
  assert.equal(row?.keys, 100)
  assert.ok(row.attempts >= 120, `${row.attempts} attempts`)
})
