import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'

// Failures after or beside the written end of a request do not change that end. A file takes the
// place of the directory of all lines, so not even root can write any. The end of this file also
// proves that the server stops in order.

const directory = await mkdtemp(join(tmpdir(), 'quayside-unwritable-'))
await writeFile(join(directory, 'logs'), '')
const platform = await createPlatform({ after }, { works: true, settings: { QUAYSIDE_DATA: directory } })
after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
const { a, call, database, engine, logged } = platform
await platform.addRepository(a)

const send = async (method: string, path: string) => {
  const answer = await call(a.tokens.ADMIN, method, path, method === 'POST' ? {} : undefined)
  assert.ok(answer.status < 300, answer.text)
}

/**
 * Waits until the workflow of the environment's last request has ended, and returns its outcome.
 */
const ending = (environment: string) =>
  until('the workflow has ended', async () => {
    const [row] = await database<{ state: string; status: string | null; finished_at: Date | null }[]>`
      select w.state, r.status, w.finished_at from workflow w left join deployment_request r on r.id = w.id
      where w.key = ${environment} order by w.seq desc limit 1`
    return row?.finished_at ? { workflow: row.state, request: row.status } : undefined
  })

const isThere = async (environment: string): Promise<boolean> =>
  (await database`select from environment where id = ${environment}`).length === 1

test('a deployment succeeds and is reported once when its lines cannot be written', async () => {
  const { environmentId, applicationId } = a.objects
  await send('POST', `/application/${applicationId}/deploy`)
  assert.deepEqual(await ending(environmentId), { workflow: 'done', request: 'SUCCESS' })
  const events = await database<{ type: string }[]>`
    select type from event where environment_id = ${environmentId} and type <> 'DEPLOYMENT_STARTED'`
  assert.deepEqual([...events], [{ type: 'DEPLOYMENT_SUCCESSFUL' }])
  assert.ok(logged.some((line) => line.includes('lines of a deployment could not be written')))
})

test('an environment is deleted completely when its lines cannot be removed', async () => {
  const { environmentId } = a.objects
  await send('DELETE', `/environment/${environmentId}`)
  assert.deepEqual(await ending(environmentId), { workflow: 'done', request: null })
  assert.equal(await isThere(environmentId), false)
  assert.ok(logged.some((line) => line.includes('lines of a deleted service could not be removed')))
})

test('an ended request is unchanged when its workflow fails afterwards, and a second delete continues', async () => {
  const { environmentId, applicationId } = await platform.addObjects(a)
  await send('POST', `/application/${applicationId}/deploy`)
  assert.equal((await ending(environmentId)).request, 'SUCCESS')
  const erase = engine.eraseEnvironment
  engine.eraseEnvironment = async () => {
    throw new EngineError('refused', 'the network is in use')
  }
  await send('DELETE', `/environment/${environmentId}`)
  assert.deepEqual(await ending(environmentId), { workflow: 'failed', request: 'SUCCESS' })
  assert.ok(logged.some((line) => line.includes('delete it again') && line.includes('the network is in use')))
  engine.eraseEnvironment = erase
  await send('DELETE', `/environment/${environmentId}`)
  await until('it is gone', async () => !(await isThere(environmentId)))
})
