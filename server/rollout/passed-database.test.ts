import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { FakeEngine } from '../engines/index.ts'
import { systemClock } from '../lib/clock.ts'

// A cluster whose engine publishes no ports, as one of Kubernetes: its router opens the ports of
// public databases.

const engine = new FakeEngine({ clock: systemClock })
engine.capabilities = { ...engine.capabilities, publishesPorts: false }
const settings = { QUAYSIDE_DOMAIN: 'apps.example.org' }
const { a, call, database, router } = await createPlatform({ after }, { works: true, engine, settings })
const { environmentId } = a.objects
const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
const body = {
  type: 'POSTGRESQL',
  version: '16',
  mode: 'CONTAINER',
  accessibility: 'PUBLIC',
  storage: 10,
}
const make = async (name: string) => {
  const created = await send('POST', `/environment/${environmentId}/database`, { ...body, name })
  assert.equal(created.status, 201, created.text)
  const { id } = created.body
  return {
    id,
    deploy: async () => {
      assert.equal((await send('POST', `/database/${id}/deploy`, {})).status, 202)
      const { body: status } = await until('it is settled', async () => {
        const answer = await send('GET', `/database/${id}/status`)
        return answer.body.deployment_request_id === null && answer
      })
      assert.ok(['DEPLOYED', 'RUNNING'].includes(status.state), JSON.stringify(status))
    },
    record: async () => (await send('GET', `/database/${id}`)).body,
    routes: () => router.routes.filter(({ service }) => service === id),
    changes: async () => {
      const plan = await send('POST', `/environment/${environmentId}/deploy?dry_run=true`)
      const { effect, changed_settings, changed_variables, skipped } = plan.body.services.find(
        (one: { service_id: string }) => one.service_id === id,
      )
      return { effect, changes: [...changed_settings, ...changed_variables], skipped }
    },
  }
}
const variable = async (id: string, name: string) => {
  const { results } = (await send('GET', `/application/${a.objects.applicationId}/environmentVariable`)).body
  const key = `QOVERY_POSTGRESQL_Z${id.slice(0, 8).toUpperCase()}_${name}`
  return results.find((one: { key: string }) => one.key === key)?.value
}

test('the router opens the port of a public database, and closes it when the database is private again', async () => {
  const { id, deploy, record, routes, changes } = await make('data')
  await deploy()
  const { host, port } = await record()
  assert.match(host, /^database-z.*\.apps\.example\.org$/)
  await until('the router has the port', () => routes().some(({ endpoints }) => endpoints.length === 1))
  const [route, ...others] = routes()
  assert.deepEqual(others, [])
  assert.deepEqual([route?.listen, route?.endpoints[0]?.port], [{ protocol: 'TCP', port }, 5432])
  assert.deepEqual([await variable(id, 'HOST_EXTERNAL'), await variable(id, 'PORT_EXTERNAL')], [host, String(port)])
  const observed = await engine.observe(id, new AbortController().signal)
  const names = () => (observed.state === 'running' ? observed.replicas.map(({ name }) => name) : [])
  const before = names()
  assert.deepEqual(await changes(), { effect: 'KEEP', changes: [], skipped: null })

  assert.equal((await send('PUT', `/database/${id}`, { accessibility: 'PRIVATE' })).status, 200)
  await until('the route is gone', () => routes().length === 0)
  assert.equal((await record()).port, 5432)
  // Its program is the same, so nothing restarts.
  await deploy()
  assert.deepEqual(names(), before)
  assert.equal((await send('PUT', `/database/${id}`, { accessibility: 'PUBLIC' })).status, 200)
  await deploy()
  assert.equal((await record()).port, port)
  await until('the router has the port', () => routes().some(({ endpoints }) => endpoints.length === 1))
})

test('a database on a cluster that opens ports is reached where the cluster says', async () => {
  await database`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l',
      dns_provider = '{"provider":"QOVERY","domain":"apps.far.test"}' where id = ${a.clusterId}`
  const { id, deploy, record } = await make('far')
  const inside = await record()
  assert.deepEqual([inside.port, await variable(id, 'HOST_EXTERNAL')], [5432, undefined])
  const [route] = await until('the route exists', async () => {
    const rows = await database<{ public_port: number }[]>`select public_port from route where service_id = ${id}`
    return rows.length === 1 && rows
  })
  const port = route?.public_port ?? 0
  router.addresses = [{ service: id, port, reached: { host: '203.0.113.5', port: 31_000 } }]
  await deploy()
  const { host, port: reached } = await record()
  assert.deepEqual([host, reached], ['203.0.113.5', 31_000])
  assert.equal(await variable(id, 'PORT_EXTERNAL'), '31000')
  router.addresses = [{ service: id, port, reached: { reason: 'the cluster has no load balancer' } }]
  const reason = async () => String((await send('GET', `/database/${id}/status`)).body.reason)
  await until('its status has the reason', async () => /^Nobody reaches the public port \d+ yet: /.test(await reason()))
  assert.equal((await record()).port, 5432)
})
