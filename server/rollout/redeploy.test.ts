import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** A deployment without changes restarts nothing. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform
await platform.addRepository(a)

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}

/** Creates a running application for one test. */
async function running() {
  const { id: environmentId } = await send('POST', `/project/${a.objects.projectId}/environment`, {
    name: randomUUID(),
  })
  const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }
  const { id } = await send('POST', `/environment/${environmentId}/application`, { name: 'web', git_repository })
  const path = `/application/${id}`
  /** Returns how many replicas were created for it. */
  const run = async (action: string): Promise<{ made: number; state: string; log: string }> => {
    const before = engine.effects.created
    const asked = await send('POST', `${path}/${action}`, action === 'deploy' ? {} : undefined)
    await until(`${action} has ended`, async () => {
      const [row] = await database`select from deployment_request where id = ${asked.id} and finished_at is not null`
      return row
    })
    const { state } = await send('GET', `${path}/status`)
    const { text } = await call(a.tokens.READ, 'GET', `/environment/${environmentId}/logs`)
    return { made: engine.effects.created - before, state, log: text }
  }
  const release = async () => (await database`select release_id from service where id = ${id}`)[0]?.['release_id']
  const first = await run('deploy')
  assert.deepEqual([first.made, first.state], [1, 'DEPLOYED'])
  return { id, path, run, release }
}

test('a deployment keeps the running version and reports it when nothing changed', async () => {
  const { id, path, run, release } = await running()
  const former = await release()
  for (const action of ['deploy', 'redeploy']) {
    const again = await run(action)
    assert.deepEqual([again.made, again.state], [0, 'DEPLOYED'], action)
    assert.match(again.log, /Nothing changed: the running version is kept, and nothing was restarted/)
    assert.equal(await release(), former)
  }
  const { results } = await send('GET', `${path}/deploymentHistoryV2`)
  assert.deepEqual([results[0].status, results[0].status_details.status], ['DEPLOYED', 'SUCCESS'])
  const rows = await database`select id from release where service_id = ${id}`
  assert.deepEqual([rows.length, rows[0]?.['id']], [1, former])
})

test('a restart starts a version that a deployment would keep, and the next deployment keeps it', async () => {
  const { run } = await running()
  const restarted = await run('restart-service')
  assert.deepEqual([restarted.made, restarted.state], [1, 'RESTARTED'])
  assert.deepEqual((await run('deploy')).made, 0)
})

test('a deployment restarts for changed variables, secrets and files, but not for its own id', async () => {
  const { path, run } = await running()
  const add = (kind: string, key: string, value: string, more = {}) =>
    send('POST', `${path}/${kind}`, { key, value, ...more })
  await add('environmentVariable', 'PLAIN', 'one')
  const changed = await run('deploy')
  assert.equal(changed.made, 1)
  assert.match(changed.log, /Changed since the running version: variable PLAIN\./)
  await add('secret', 'HIDDEN', 'two, and secret')
  const hidden = await run('deploy')
  assert.equal(hidden.made, 1)
  assert.ok(!hidden.log.includes('two, and secret'))
  await add('environmentVariable', 'FILE', 'text', { mount_path: '/etc/app.conf' })
  assert.equal((await run('deploy')).made, 1)
  await add('environmentVariable', 'TAGGED', 'run {{QOVERY_DEPLOYMENT_ID}}')
  assert.equal((await run('deploy')).made, 1)
  assert.equal((await run('deploy')).made, 0)
})

test('a deployment restarts nothing and applies the settings when they do not affect the workload', async () => {
  const { path, run } = await running()
  await send('PUT', path, { icon_uri: 'app://qovery-console/other' })
  assert.equal((await send('GET', `${path}/status`)).service_deployment_status, 'OUT_OF_DATE')
  assert.equal((await run('deploy')).made, 0)
  assert.equal((await send('GET', `${path}/status`)).service_deployment_status, 'UP_TO_DATE')
  await send('PUT', path, { cpu: 300 })
  assert.equal((await run('deploy')).made, 1)
})

test('a rule of the router needs no deployment, in contrast to a login', async () => {
  const { path, run } = await running()
  const status = async () => (await send('GET', `${path}/status`)).service_deployment_status
  const network = { 'network.router.requests_per_minute': 100, 'network.ingress.enable_sticky_session': true }
  await send('PUT', `${path}/advancedSettings`, network)
  assert.equal(await status(), 'UP_TO_DATE')
  assert.equal((await run('deploy')).made, 0)
  await send('PUT', `${path}/advancedSettings`, { ...network, 'network.ingress.basic_auth_env_var': 'LOGINS' })
  assert.equal(await status(), 'OUT_OF_DATE')
})

test('a deployment restarts an unhealthy version although nothing changed', async () => {
  const { id, run } = await running()
  engine.crash(id)
  const again = await run('deploy')
  assert.equal(again.made, 1)
  assert.match(again.log, /Nothing changed, but the running version is not healthy/)
})

test('a deployment with a gap reports the reason before the previous version ends', async () => {
  const { path, run } = await running()
  await send('PUT', `${path}/advancedSettings`, { 'deployment.update_strategy.type': 'Recreate' })
  await send('PUT', path, { cpu: 310 })
  const why = /previous version is stopped first\. .*update_strategy\.type is Recreate/
  const recreated = await run('deploy')
  assert.deepEqual([recreated.made, recreated.state], [1, 'DEPLOYED'])
  assert.match(recreated.log, why)
  const other = await running()
  await send('PUT', other.path, { cpu: 310 })
  assert.doesNotMatch((await other.run('deploy')).log, why)
})

test('a deployment warns about shared storage unless the previous version ends first', async () => {
  const { path, run } = await running()
  const shared = /Both versions use its storage/
  await send('PUT', path, { storage: [{ type: 'FAST_SSD', size: 4, mount_point: '/data' }] })
  assert.match((await run('deploy')).log, shared)
  await send('PUT', `${path}/advancedSettings`, { 'deployment.update_strategy.type': 'Recreate' })
  const before = (await run('deploy')).log.match(new RegExp(shared, 'g'))?.length
  await send('PUT', path, { cpu: 320 })
  const { made, log } = await run('deploy')
  assert.deepEqual([made, log.match(new RegExp(shared, 'g'))?.length], [1, before])
})

test('a deployment starts a new version for another commit', async () => {
  const { run } = await running()
  await platform.addRepository(a, 'a change')
  assert.equal((await run('deploy')).made, 1)
})

test('a deployment starts a stopped service', async () => {
  const { run } = await running()
  await run('stop')
  const started = await run('deploy')
  assert.deepEqual([started.made, started.state], [1, 'DEPLOYED'])
})
