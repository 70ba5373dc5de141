import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { addPlace } from '../variables/testing.ts'
import { leadsElsewhere, leadsTo, replaceHosts, setEndpoints } from './route-store.ts'
import { readTable } from './route-table-store.ts'

const now = new Date('2026-01-01T00:00:00Z')
const host = (port_name: string, is_default = false) => ({
  ...{ host: `${port_name}.localhost`, port_name, internal_port: 80, is_default },
})
const endpoint = (name: string, port: number, app: string) => ({
  ...{ address: '10.0.0.1', port, of: { name, port: 80, pods: { app } } },
})

test('two ports of a chart with one number lead to their own pods, and follow other labels', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId: service } = (await addPlace(sql)).service
  await replaceHosts(sql, service, [host('web', true), host('admin')], now)
  const both = [endpoint('web', 8080, 'web'), endpoint('admin', 9090, 'admin')]
  assert.equal(await setEndpoints(sql, service, service, both, now), true)
  const routes = async () =>
    (await readTable(sql)).routes.map((route) => [route.host, route.endpoints, route.replicas?.pods])
  assert.deepEqual(await routes(), [
    ['admin.localhost', [{ address: '10.0.0.1', port: 9090 }], { app: 'admin' }],
    ['web.localhost', [{ address: '10.0.0.1', port: 8080 }], { app: 'web' }],
  ])
  assert.equal(await leadsTo(sql, service, service, both), true)
  assert.equal(await leadsElsewhere(sql, service, both), false)
  const relabelled = [endpoint('web', 8080, 'other'), endpoint('admin', 9090, 'admin')]
  assert.equal(await leadsTo(sql, service, service, relabelled), false)
  assert.equal(await setEndpoints(sql, service, service, relabelled, now), true)
  assert.deepEqual((await routes())[1]?.[2], { app: 'other' })
  await setEndpoints(sql, service, service, [], now)
  assert.deepEqual((await routes())[1], ['web.localhost', [], undefined])
})
