import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../../server/database/testing.ts'
import { newId } from '../../server/lib/id.ts'
import { begin, fail, skip, succeed } from '../../server/workflows/step-store.ts'
import { claim, end, insert, lock, renew, shareOut } from '../../server/workflows/workflow-store.ts'

// Two servers repeatedly take work from each other, and the previous owner still writes.

const workflows = 100
const rounds = 100

test(`the previous owner of a lease writes nothing after ${workflows * rounds} changes of owner`, async (t) => {
  const { sql } = await testDatabase(t)
  for (let n = 0; n < workflows; n++) {
    await insert(sql, { id: newId(), kind: 'w', key: `${n}`, input: null, countsFor: 'platform' })
  }
  const take = (owner: string) =>
    claim(sql, { ...shareOut(workflows), owner, kinds: ['w'], limit: workflows, leaseSeconds: 15, holding: [] })
  let former = await take('one')
  for (const held of former) await begin(sql, held, 'step')
  const ways = [
    (held: (typeof former)[number]) => begin(sql, held, 'late').then((seconds) => seconds !== undefined),
    (held: (typeof former)[number]) => skip(sql, held, 'late'),
    (held: (typeof former)[number]) => succeed(sql, held, { name: 'step', result: '"late"', isProgress: true }),
    (held: (typeof former)[number]) => fail(sql, held, { name: 'step', status: 'ERROR', error: 'late' }),
    (held: (typeof former)[number]) => end(sql, held, 'done', null),
    (held: (typeof former)[number]) => lock(sql, held, 1000),
  ] as const
  for (let round = 0; round < rounds; round++) {
    await sql`update workflow set lease_until = now()`
    const holders = await take(round % 2 === 0 ? 'two' : 'one')
    assert.equal(holders.length, workflows)
    assert.deepEqual([...(await renew(sql, former, 15))], [])
    const write = ways[round % ways.length] ?? ways[0]
    const written = await Promise.all(former.map(write))
    assert.deepEqual(
      written.filter((isWritten) => isWritten),
      [],
    )
    former = holders
  }
  const rows = await sql<{ name: string; status: string | null; fence: string; state: string }[]>`
    select s.name, s.status, w.fence::text, w.state from workflow w join workflow_step s on s.workflow_id = w.id`
  assert.equal(rows.length, workflows)
  for (const row of rows) {
    assert.deepEqual({ ...row }, { name: 'step', status: null, fence: String(rounds + 1), state: 'running' })
  }
})
