import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { deploymentStream, openLineStore, serviceStream } from '../logs/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createLogPruner } from './log-pruner.ts'

const now = new Date('2026-06-01T00:00:00Z')
const clock = { ...systemClock, now: () => now }
const ago = (days: number): Date => new Date(now.getTime() - days * 24 * 3600 * 1000)

test('old logs are deleted except those of running and of the newest deployments', async (t) => {
  const { sql } = await testDatabase(t)
  const { environmentId } = (await addPlace(sql)).service
  const directory = await mkdtemp(join(tmpdir(), 'quayside-logs-'))
  const lines = openLineStore({ directory, clock: systemClock, log: silentLogger })
  t.after(async () => {
    await lines.close()
    await rm(directory, { recursive: true })
  })
  const add = async (execution: string, finished: Date | null, isLost = false): Promise<void> => {
    await lines.append(deploymentStream(execution), [{ text: execution }])
    if (isLost) return
    const id = newId()
    await sql`insert into workflow (id, kind, key, input) values (${id}, 'test', ${id}, '{}')`
    await sql`
      insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
        created_at, updated_at, finished_at)
      values (${id}, ${environmentId}, ${execution}, 'DEPLOY', 'SUCCESS', 'API', 'test', 'test', now(), now(),
      ${finished})`
  }
  await add('old', ago(31))
  await add('endless', null)
  await add('young', ago(29))
  for (let n = 0; n < 20; n++) await add(`newest-${n}`, ago(400))
  await add('environment-is-gone', ago(1), true)
  await lines.flush()
  const kept = async (): Promise<string[]> => {
    const ids: string[] = []
    for await (const id of lines.streams('deployment')) ids.push(id)
    return ids
  }
  assert.equal((await kept()).length, 24)
  const pruner = createLogPruner({ database: sql, clock, lines, days: 30 })
  for (let times = 0; times < 2; times++) await pruner.reconcile(new AbortController().signal)
  const newest = Array.from({ length: 20 }, (_, n) => `newest-${n}`)
  assert.deepEqual((await kept()).toSorted(), ['endless', 'young', ...newest].toSorted())
  assert.deepEqual(await lines.tail(deploymentStream('old'), 10), [])
})

test('where nothing was ever deployed nothing is removed, and no directory is made', async (t) => {
  const { sql } = await testDatabase(t)
  const directory = await mkdtemp(join(tmpdir(), 'quayside-logs-'))
  const lines = openLineStore({ directory, clock: systemClock, log: silentLogger })
  t.after(async () => {
    await lines.close()
    await rm(directory, { recursive: true })
  })
  const stream = serviceStream(newId())
  await lines.append(stream, [{ text: 'up' }])
  await lines.flush()
  const removed: string[] = []
  const remove = async (name: string): Promise<void> => void removed.push(name)
  const pruned = async ({ streams }: Pick<typeof lines, 'streams'>): Promise<readonly string[]> => {
    const pruner = createLogPruner({ database: sql, clock, lines: { streams, remove }, days: 30 })
    await pruner.reconcile(new AbortController().signal)
    return removed
  }
  assert.deepEqual(await pruned(lines), [])
  const absent = join(directory, 'absent')
  const none = openLineStore({ directory: absent, clock: systemClock, log: silentLogger })
  t.after(() => none.close())
  assert.deepEqual(await pruned(none), [])
  await assert.rejects(readdir(absent), { code: 'ENOENT' })
})
