import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { begin, succeed } from './step-store.ts'
import { claim, insert, shareOut } from './workflow-store.ts'

test('only the start of a step does not wait for the disk', async (t) => {
  const { sql } = await testDatabase(t)
  const id = newId()
  await insert(sql, { id, kind: 'w', key: 'a', input: null, countsFor: 'platform' })
  const taking = { ...shareOut(10), owner: 'a', kinds: ['w'], limit: 10, leaseSeconds: 15, holding: [] }
  const [held] = await claim(sql, taking)
  assert.ok(held)
  await sql.begin(async (tx) => {
    const waits = async () =>
      (await tx<{ value: string }[]>`select current_setting('synchronous_commit') as value`)[0]?.value
    await tx`set local synchronous_commit = 'on'`
    assert.equal(await succeed(tx, held, { name: 'S', result: null, isProgress: true }), false, 'it was not begun')
    assert.equal(await waits(), 'on')
    assert.equal(typeof (await begin(tx, held, 'S')), 'number')
    assert.equal(await waits(), 'off')
  })
  const [own] = await sql`select current_setting('synchronous_commit') as value, reset_val from pg_settings
    where name = 'synchronous_commit'`
  assert.equal(own?.['value'], own?.['reset_val'], 'the next transaction waits as before')
  assert.equal(await begin(sql, { ...held, fence: '7' }, 'T'), undefined, 'another holder took it over')
  assert.equal(await succeed(sql, held, { name: 'S', result: '1', isProgress: true }), true)
})
