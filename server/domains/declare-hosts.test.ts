import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { addPlace } from '../variables/testing.ts'
import { createHostDeclarer } from './declare-hosts.ts'
import { findPublicPort } from './public-port-store.ts'
import { listServiceRoutes } from './route-store.ts'

test('public ports get host names, and a published service gets a port of this machine', async (t) => {
  const { sql } = await testDatabase(t)
  const { serviceId: id } = (await addPlace(sql)).service
  const publicPorts = { first: 30_000, last: 30_009 }
  const declare = createHostDeclarer({
    clock,
    domain: 'example.org',
    publicPorts,
    internalHost: () => 'shop',
    publishesPorts: (engine) => engine !== 'far',
  })
  const port = {
    id: 'port',
    name: 'web',
    internal_port: 80,
    publicly_accessible: true,
    is_default: true,
    protocol: 'HTTP' as const,
  }
  const service = { id, kind: 'application', name: 'shop', ports: [port] }
  await inTransaction(sql, (tx) => declare(tx, { ...service, published: undefined }))
  const hosts = async () => (await listServiceRoutes(sql, id)).map((route) => [route.host, route.has_controller])
  assert.deepEqual(await hosts(), [[`shop-${id.slice(0, 8)}.example.org`, false]])
  assert.equal(await findPublicPort(sql, id), undefined)
  await inTransaction(sql, (tx) =>
    declare(tx, { ...service, published: { ...port, name: 'database', internal_port: 5432, protocol: 'TCP' } }),
  )
  assert.equal((await findPublicPort(sql, id))?.host, 'shop.example.org')
  // An engine that publishes no ports leaves them to the router.
  await sql`update cluster set engine = 'far'`
  const database = { ...port, name: 'database', internal_port: 5432, protocol: 'TCP' as const }
  await inTransaction(sql, (tx) => declare(tx, { ...service, ports: [], published: database }))
  const [passed] = await listServiceRoutes(sql, id)
  assert.deepEqual(
    [passed?.host, passed?.internal_port, passed?.public_protocol],
    [`shop.example.org:${passed?.public_port}`, 5432, 'TCP'],
  )
  assert.equal(await findPublicPort(sql, id), undefined)
  await inTransaction(sql, (tx) => declare(tx, { ...service, ports: [], published: undefined }))
  assert.deepEqual(await hosts(), [])
  // A connected cluster with a domain of its own carries the traffic.
  await sql`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l',
      dns_provider = '{"provider":"QOVERY","domain":"apps.test"}'`
  await inTransaction(sql, (tx) => declare(tx, { ...service, published: undefined }))
  assert.deepEqual(await hosts(), [[`shop-${id.slice(0, 8)}.apps.test`, true]])
})
