import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { allClusters } from '../routers/index.ts'
import { createSleeper } from '../scaling/index.ts'

/**
 * Deployments of sleeping services. A version must be healthy once, then sleeps again after its
 * idle time.
 */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine, router } = platform
const idleSeconds = 300

let nowMs = 0
const sleeper = createSleeper({
  database,
  router,
  name: 'local',
  scope: allClusters,
  clock: { ...systemClock, monotonic: () => nowMs },
  log: silentLogger,
  changed: () => {},
})
const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
const { id: environment } = await send('POST', `/project/${a.objects.projectId}/environment`, { name: 'asleep' })
const [registry] = await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`
const { id } = await send('POST', `/environment/${environment}/container`, {
  name: 'sleepy',
  registry_id: registry?.['id'],
  image_name: 'sleepy',
  tag: '1',
  min_running_instances: 0,
  ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  healthchecks: {},
})

/** The state of a service, its reason, the observed state and the running replicas. */
async function told() {
  const { state, reason } = await send('GET', `/container/${id}/status`)
  const [seen] = await database`select state from observation where service_id = ${id}`
  const { state: runs } = await engine.observe(id, AbortSignal.timeout(5000))
  return { state, reason, seen: seen?.['state'], runs }
}
async function run(action: string): Promise<void> {
  const { id: request } = await send('POST', `/container/${id}/${action}`, action === 'deploy' ? {} : undefined)
  await until(`${action} has ended`, async () => {
    const [row] = await database`select from deployment_request where id = ${request} and finished_at is not null`
    return row
  })
}
async function pass(seconds: number): Promise<boolean> {
  nowMs += seconds * 1000
  await sleeper.reconcile(new AbortController().signal)
  const [row] = await database`select from service_scale where service_id = ${id} and replicas = 0`
  return row !== undefined
}
/** Waits until the service sleeps again, which must not be before its idle time. */
async function fallsAsleep(): Promise<void> {
  assert.deepEqual([await pass(1), await pass(idleSeconds - 1), await pass(1)], [false, false, true])
  await until('nothing of it runs', async () => {
    const { seen, runs } = await told()
    return seen === 'stopped' && runs === 'absent'
  })
}
const asleep = { state: 'DEPLOYED', reason: null, seen: 'stopped', runs: 'absent' }
const awake = { state: 'DEPLOYED', reason: null, seen: 'running', runs: 'running' }

for (const action of ['deploy', 'redeploy', 'restart-service']) {
  test(`a sleeping service starts for a ${action} and sleeps again after its idle time`, async () => {
    if (action === 'deploy') await run('deploy')
    await fallsAsleep()
    assert.deepEqual(await told(), asleep)
    const { start } = engine
    const during: string[] = []
    engine.start = async (release, attempt) => {
      during.push((await told()).state)
      return start.call(engine, release, attempt)
    }
    await run(action)
    Reflect.deleteProperty(engine, 'start')
    assert.deepEqual(during, [action === 'restart-service' ? 'RESTARTING' : 'DEPLOYING'])
    assert.deepEqual(await told(), { ...awake, state: action === 'restart-service' ? 'RESTARTED' : 'DEPLOYED' })
    const { text } = await call(a.tokens.READ, 'GET', `/environment/${environment}/logs`)
    if (action !== 'restart-service') assert.match(text, /Nothing changed, but it sleeps and is started/)
  })
}

test('a version that fails to start leaves the previous one asleep', async () => {
  await run('deploy')
  await fallsAsleep()
  engine.start = async () => {
    throw new EngineError('crashed', 'it exited')
  }
  await run('deploy')
  Reflect.deleteProperty(engine, 'start')
  const { state, seen, runs } = await told()
  assert.deepEqual([state, seen, runs], ['DEPLOYMENT_ERROR', 'stopped', 'absent'])
  assert.equal((await database`select replicas from service_scale where service_id = ${id}`)[0]?.['replicas'], 0)
})
