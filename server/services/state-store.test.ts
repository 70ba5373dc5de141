import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialState } from '@quayside/contract/transitions.ts'
import { inTransaction } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { addPlace } from '../variables/testing.ts'
import { reportUnlisted, UnlistedTransitionError, writeState } from './state-store.ts'

async function openService(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const { service } = await addPlace(sql)
  const id = service.serviceId ?? ''
  const read = async (): Promise<string | undefined> =>
    (await sql<{ state: string }[]>`select state from service where id = ${id}`)[0]?.state
  return { sql, id, read }
}

test('a service starts in the initial state', async (t) => {
  const { read } = await openService(t)
  assert.equal(await read(), initialState)
})

test('writing a state throws and rolls the transaction back when the table does not allow it', async (t) => {
  const { sql, id, read } = await openService(t)
  const writing = inTransaction(sql, (tx) => writeState(tx, { service: id, event: 'ended well', to: 'DEPLOYED' }))
  await assert.rejects(writing, (error) => {
    assert.ok(error instanceof UnlistedTransitionError)
    assert.equal(error.message, `Service ${id} went from READY to DEPLOYED by "ended well".`)
    return true
  })
  assert.equal(await read(), 'READY')
})

test('the end of a request and the queue of the next one are one write, and the table must have both', async (t) => {
  const { sql, id, read } = await openService(t)
  await sql`update service set state = 'DEPLOYING' where id = ${id}`
  const ended = { service: id, event: 'ended well', to: 'DEPLOYED' } as const
  await assert.rejects(writeState(sql, { ...ended, next: sql`select 'STOPPING'::text` }), /to DEPLOYED to STOPPING/)
  await sql`update service set state = 'DEPLOYING' where id = ${id}`
  await writeState(sql, { ...ended, next: sql`select 'STOP_QUEUED'::text` })
  assert.equal(await read(), 'STOP_QUEUED')
})

test('no state is written for a service that was deleted meanwhile', async (t) => {
  const { sql, id } = await openService(t)
  await sql`delete from service where id = ${id}`
  await writeState(sql, { service: id, event: 'begun', to: 'DEPLOYING' })
})

// This test is last: the handler of reports belongs to the whole process.
test('an unlisted state is written and reported in production', async (t) => {
  const { sql, id, read } = await openService(t)
  const logged: unknown[] = []
  reportUnlisted({ error: (fields: unknown) => void logged.push(fields) } as Parameters<typeof reportUnlisted>[0])
  await writeState(sql, { service: id, event: 'ended well', to: 'DEPLOYED' })
  assert.equal(await read(), 'DEPLOYED')
  assert.match(String(logged.map((fields) => Object(fields).err)), /went from READY to DEPLOYED/)
})
