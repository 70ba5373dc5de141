import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger as log } from '../lib/log.ts'
import { createStrayEraser } from './stray-environments.ts'
import { addGround } from './testing.ts'

const attempt = { signal: new AbortController().signal, output: silent }

/** An engine of a cluster with one environment. */
async function openBench(t: Cleanup) {
  const { sql: database } = await testDatabase(t)
  const ground = await addGround(database)
  await database`update cluster set engine = 'far' where id = ${ground.cluster_id}`
  const engine = new FakeEngine({ clock })
  const eraser = createStrayEraser({ database, log }, { name: 'far', engine })
  return {
    database,
    engine,
    /** Looks once. Returns what the engine keeps after it. */
    look: async () => {
      await eraser.reconcile(attempt.signal)
      return engine.listEnvironments(attempt.signal)
    },
    name: eraser.name,
    known: (await ground.addEnvironment('shop')).id,
  }
}

test('an environment without a record is removed at the second look, and one with a record stays', async (t) => {
  const { engine, look, known, name } = await openBench(t)
  const stray = newId()
  for (const id of [known, stray]) await engine.prepareEnvironment(id, attempt)
  assert.deepEqual(await look(), [known, stray])
  assert.deepEqual(await look(), [known])
  assert.deepEqual(await look(), [known])
  assert.equal(name, 'stray environments (far)')
})

test('an environment that gets a record before the second look stays', async (t) => {
  const { database, engine, look, known } = await openBench(t)
  await database`update cluster set engine = 'elsewhere'`
  await engine.prepareEnvironment(known, attempt)
  assert.deepEqual(await look(), [known])
  await database`update cluster set engine = 'far'`
  assert.deepEqual(await look(), [known])
  await database`update cluster set engine = 'elsewhere'`
  assert.deepEqual(await look(), [known])
  assert.deepEqual(await look(), [])
})

test('an engine that is away is asked again', async (t) => {
  const { engine, look } = await openBench(t)
  const stray = newId()
  await engine.prepareEnvironment(stray, attempt)
  assert.deepEqual(await look(), [stray])
  const { listEnvironments } = engine
  engine.listEnvironments = async () => {
    throw new Error('away')
  }
  await assert.rejects(look(), /away/)
  engine.listEnvironments = listEnvironments
  assert.deepEqual(await look(), [])
})
