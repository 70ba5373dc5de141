import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Group I with running workers: concurrent requests, deletions, and what an engine receives. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform
await platform.addRepository(a)
const token = a.tokens.ADMIN

const atRest = (environmentId: string) =>
  until('no request is in progress', async () => {
    const rows = await database`
      select from deployment_request where environment_id = ${environmentId} and finished_at is null`
    return rows.length === 0
  })
const replicasOf = async (service: string) => {
  const observation = await engine.observe(service, AbortSignal.timeout(60_000))
  return observation.state === 'absent' ? [] : observation.replicas
}

test('I1 fifty parallel deploys of two callers run one after the other and leave one version', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  let most = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const rows = await database`
        select from deployment_request where environment_id = ${environmentId} and status in ('ONGOING', 'CANCELING')`
      most = Math.max(most, rows.length)
    }
  })()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      call(index % 2 === 0 ? token : a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {}),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  await atRest(environmentId)
  isOver = true
  await watching
  assert.equal(most, 1)
  const ids = new Set(answers.map(({ body }) => Object(body).id))
  const requests = await database<{ id: string; status: string }[]>`
    select id, status from deployment_request where environment_id = ${environmentId}`
  assert.deepEqual(new Set(requests.map(({ id }) => id)), ids)
  assert.ok(requests.every(({ status }) => status === 'SUCCESS'))
  await until('one version runs', async () => (await replicasOf(applicationId)).length === 1)
  const [service] = await database<{ release_id: string }[]>`select release_id from service where id = ${applicationId}`
  assert.equal((await replicasOf(applicationId))[0]?.release, service?.release_id)
})

test('I5 a service that is being deleted cannot be deployed, and a deleted one is unknown', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  await call(token, 'POST', `${path}/deploy`, {})
  await atRest(environmentId)
  const retire = engine.retire.bind(engine)
  const held = Promise.withResolvers<void>()
  engine.retire = async (...args) => {
    if (args[0] === applicationId) await held.promise
    return retire(...args)
  }
  assert.equal((await call(token, 'DELETE', path)).status, 204)
  for (const action of ['deploy', 'redeploy', 'restart-service', 'stop']) {
    assert.equal((await call(token, 'POST', `${path}/${action}`)).status, 409, action)
  }
  held.resolve()
  await atRest(environmentId)
  engine.retire = retire
  for (const action of ['deploy', 'redeploy', 'restart-service', 'stop']) {
    assert.equal((await call(token, 'POST', `${path}/${action}`)).status, 404, action)
  }
  assert.deepEqual(await replicasOf(applicationId), [])
})

const names = ['-a', '../x', 'a;touch x', 'a b', '$(id)', '"quoted"', 'x'.repeat(63), '日本語', '💥', '--privileged']
test('I22 a name is shown unchanged, and the engine receives only ids', async () => {
  const { environmentId } = await platform.addObjects(a)
  for (const name of names) {
    const body = {
      name,
      git_repository: { url: 'http://localhost:3000/git/hello.git' },
      ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
    }
    const made = await call(token, 'POST', `/environment/${environmentId}/application`, body)
    assert.equal(made.status, 201, `${name}: ${made.text}`)
    assert.equal(Object(made.body).name, name)
  }
  await call(token, 'POST', `/environment/${environmentId}/deploy`)
  await atRest(environmentId)
  const services = await database<{ id: string; name: string; state: string }[]>`
    select id, name, state from service where environment_id = ${environmentId} and kind = 'application'`
  for (const { id, state } of services) {
    assert.equal(state, 'DEPLOYED')
    for (const replica of await replicasOf(id)) assert.match(replica.name, /^[0-9a-f-]+$/)
  }
  const routes = await database<{ host: string }[]>`select host from route where host not in (select domain
    from custom_domain)`
  for (const { host } of routes) assert.match(host, /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.localhost$/)
})

test('I23 arguments and entry point reach the engine as a list, and other fields do not', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const args = ['--privileged', ';touch x', '$HOME', '`id`', '', 'a b']
  const extra = {
    privileged: true,
    HostConfig: { Binds: ['/:/host'] },
    network_mode: 'host',
    pid: 'host',
    devices: ['/dev/sda'],
    cap_add: ['ALL'],
  }
  const changed = await call(token, 'PUT', `/application/${applicationId}`, {
    arguments: args,
    entrypoint: '/bin/sh -c',
    ...extra,
  })
  assert.equal(changed.status, 200, changed.text)
  const started: unknown[] = []
  const start = engine.start.bind(engine)
  engine.start = (release, attempt) => {
    if (release.service === applicationId) started.push(release.workload)
    return start(release, attempt)
  }
  await call(token, 'POST', `/application/${applicationId}/deploy`, {})
  await atRest(environmentId)
  engine.start = start
  const workload = Object(started[0])
  assert.deepEqual(workload.arguments, args)
  assert.deepEqual(workload.entrypoint, ['/bin/sh -c'])
  const text = JSON.stringify(workload, (_key, value) => value)
  for (const member of ['HostConfig', 'Binds', 'network_mode', 'cap_add', 'devices', '"privileged"'])
    assert.ok(!text.includes(member))
  assert.equal(
    (await call(token, 'PUT', `/application/${applicationId}`, { arguments: Array(10_000).fill('x') })).status,
    400,
  )
})

test('I24 volumes keep their place and only grow', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const storage = (...changes: object[]) =>
    call(token, 'PUT', path, {
      storage: changes.map((change) => ({ type: 'FAST_SSD', size: 2, mount_point: '/data', ...change })),
    })
  for (const bad of [{ size: 0 }, { size: -1 }, { size: 100_000_000 }, { type: 'SLOW' }]) {
    assert.equal((await storage(bad)).status, 400)
  }
  assert.equal((await storage({}, {})).status, 400)
  const id = Object((await storage({ driver_opts: { type: 'none', o: 'bind' } })).body).storage[0].id
  assert.equal((await storage({ size: 1 })).status, 200, 'the volume does not exist yet')
  assert.equal((await storage({ size: 2 })).status, 200)
  await call(token, 'POST', `${path}/deploy`, {})
  await atRest(environmentId)
  assert.equal((await storage({ size: 1 })).status, 409)
  assert.equal(Object((await storage({ size: 3 })).body).storage[0].id, id)
})
