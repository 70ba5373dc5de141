import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { createSharedDuty, createSoleDuty, type Duty, type DutyOptions } from './duty.ts'
import { runOnDuty } from './on-duty.ts'
import { until } from './testing.ts'

async function bench(t: TestContext) {
  const duties: Duty[] = []
  t.after(async () => void (await Promise.all(duties.map((duty) => duty.stop()))))
  const { sql } = await testDatabase(t)
  const start = (owner: string, options: Partial<DutyOptions> = {}) => {
    const duty = createSharedDuty({
      database: sql,
      clock,
      log,
      owner,
      leaseSeconds: 1,
      isAlive: () => true,
      ...options,
    })
    const changes: boolean[] = []
    duties.push(duty)
    duty.start(async (isHeld) => void changes.push(isHeld))
    return { duty, changes }
  }
  return { sql, start }
}

test('one of several servers has the duty, and the next takes it when that one stops', async (t) => {
  const { start } = await bench(t)
  const [a, b] = [start('a'), start('b')]
  await until('one has it', () => a.duty.isHeld() || b.duty.isHeld())
  assert.notEqual(a.duty.isHeld(), b.duty.isHeld())
  const [first, second] = a.duty.isHeld() ? [a, b] : [b, a]
  await first.duty.stop()
  assert.deepEqual(first.changes, [true, false])
  await until('the other has it', () => second.duty.isHeld())
})

test('a server that no longer renews it loses it before another one has it', async (t) => {
  const { sql, start } = await bench(t)
  const a = start('a')
  await until('it has it', () => a.duty.isHeld())
  const [before] = await sql`select fence from duty`
  // As if the renewals of a process came too late: its row belongs to another one.
  await sql`update duty set owner = 'b', fence = fence + 1, until = clock_timestamp() + interval '1 second'`
  await until('it has noticed', () => !a.duty.isHeld() && a.changes.length === 2)
  await until('it has it again after the lease of the other', () => a.duty.isHeld())
  const [after] = await sql`select fence from duty`
  assert.equal(Number(after?.['fence']), Number(before?.['fence']) + 2)
})

test('an ended process of the same host is not waited for', async (t) => {
  const { sql, start } = await bench(t)
  await sql`insert into duty values ('work', 'dead', 1, clock_timestamp() + interval '1 hour')`
  const b = start('b', { isAlive: (owner) => owner !== 'dead' })
  await until('it has it', () => b.duty.isHeld())
})

test('a living process on another host is waited for', async (t) => {
  const { sql, start } = await bench(t)
  await sql`insert into duty values ('work', 'elsewhere', 1, clock_timestamp() + interval '2 seconds')`
  const b = start('b')
  const began = clock.monotonic()
  await until('it has it', () => b.duty.isHeld())
  assert.ok(clock.monotonic() - began > 1_000)
})

test('reconcilers of the duty run while it is held, and others always', async (t) => {
  const { sql, start } = await bench(t)
  const stopping = new AbortController()
  const runs = { always: 0, held: 0 }
  const duty = createSharedDuty({ database: sql, clock, log, owner: 'c', leaseSeconds: 1, isAlive: () => true })
  const other = start('a')
  await until('another has it', () => other.duty.isHeld())
  const done: string[] = []
  const running = runOnDuty({
    duty,
    always: () => [{ name: 'always', everyMs: 10, reconcile: async () => void runs.always++ }],
    whileHeld: () => [{ name: 'held', everyMs: 10, reconcile: async () => void runs.held++ }],
    gained: async () => done.push('gained'),
    lost: async () => done.push('lost'),
    clock,
    log,
    signal: stopping.signal,
  })
  await until('it runs', () => runs.always > 2)
  running.nudge('held')
  assert.deepEqual([runs.held, done], [0, []])
  await other.duty.stop()
  await until('it runs', () => runs.held > 2)
  assert.deepEqual(done, ['gained'])
  await sql`update duty set owner = 'b', until = clock_timestamp() + interval '1 hour'`
  await until('it has ended', () => done.includes('lost'))
  const { held, always } = runs
  await until('the other goes on', () => runs.always > always + 2)
  assert.equal(runs.held, held)
  await running.stop()
  await duty.stop()
})

test('a server that has its database for itself always has the duty', async () => {
  const duty = createSoleDuty()
  const changes: boolean[] = []
  assert.ok(duty.isHeld())
  duty.start(async (isHeld) => void changes.push(isHeld))
  await duty.stop()
  assert.deepEqual(changes, [true, false])
})
