import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { type EngineCapabilities, FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'

/** A cluster whose engine publishes no ports, as one of Kubernetes. */
const engine = new FakeEngine({ clock: systemClock })
const usual: EngineCapabilities = engine.capabilities
const { a, call, addObjects } = await createPlatform({ after }, { works: true, engine })
const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
const refusal = 'accessibility must be PRIVATE on cluster "local": its engine publishes no ports of databases.'

test('a public database is rejected when it is written, planned and deployed', async (t) => {
  t.after(() => {
    engine.capabilities = usual
  })
  const { environmentId, more } = await addObjects(a)
  const id = more['databaseId'] ?? ''
  const edited = (accessibility: string) => send('PUT', `/database/${id}`, { accessibility })
  assert.equal((await edited('PUBLIC')).status, 200)
  engine.capabilities = { ...usual, publishesPorts: false }
  const body = {
    name: 'late',
    type: 'POSTGRESQL',
    version: '16',
    mode: 'CONTAINER',
    accessibility: 'PUBLIC',
    storage: 10,
  }
  const created = await send('POST', `/environment/${environmentId}/database`, body)
  assert.deepEqual([created.status, created.body.detail ?? created.body.message], [400, refusal], created.text)

  const plan = await send('POST', `/environment/${environmentId}/deploy?dry_run=true`)
  const planned = plan.body.services.find(({ service_id }: { service_id: string }) => service_id === id)
  assert.deepEqual([planned.effect, planned.skipped], ['SKIP', refusal])
  const deployed = await send('POST', `/database/${id}/deploy`)
  assert.equal(deployed.status, 400, deployed.text)

  assert.equal((await edited('PUBLIC')).status, 400)
  assert.equal((await edited('PRIVATE')).status, 200)
  assert.equal((await send('POST', `/database/${id}/deploy`)).status, 202)
})
