import assert from 'node:assert/strict'
import test from 'node:test'
import { silentLogger } from '../lib/log.ts'
import { listen } from './listen.ts'
import { until } from './test-support.ts'
import { testDatabase } from './testing.ts'

test('receives notifications of its channel, also after a lost connection, and ends with the signal', async (t) => {
  const { sql, url } = await testDatabase(t)
  const heard: string[] = []
  let listening = 0
  const ending = new AbortController()
  const done = listen({
    url,
    channel: 'work "x"',
    log: silentLogger,
    signal: ending.signal,
    onMessage: (payload) => void heard.push(payload),
    onListening: () => void listening++,
  })
  await until('it listens', () => listening === 1)
  await sql.notify('other', 'nothing')
  await sql.notify('work "x"', 'first')
  await until('the first is heard', () => heard.length === 1)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name like 'quayside listen%' and datname = current_database()`
  await until('it listens again', () => listening === 2)
  await sql.notify('work "x"', 'second')
  await until('the second is heard', () => heard.length === 2)
  ending.abort()
  await done
  assert.deepEqual(heard, ['first', 'second'])
})

test('keeps trying while PostgreSQL is unreachable', async () => {
  const ending = new AbortController()
  const warnings: string[] = []
  const log = silentLogger.child({})
  log.warn = (_: unknown, text?: string) => void warnings.push(text ?? '')
  const done = listen({
    url: 'postgres://quayside@127.0.0.1:9/x',
    channel: 'work',
    log,
    signal: ending.signal,
    onMessage: () => assert.fail('heard something'),
    onListening: () => assert.fail('listens'),
  })
  await until('the loss is reported', () => warnings.length > 0)
  ending.abort()
  await done
  assert.deepEqual(warnings, ['listening was lost'])
})
