import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route } from '@quayside/contract/routes.ts'
import type { Database } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { type PortAddress, type Router, RoutesRefusedError } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createRoutePublisher, lostPortsText, unreachedText } from './publisher.ts'
import { createRouteMarks } from './route-marks.ts'
import { leadsElsewhere, leadsTo, listServiceRoutes, replaceHosts, setEndpoints } from './route-store.ts'
import { readRouteVersion } from './route-table-store.ts'

const marksOf = (database: Database) => createRouteMarks({ database, clock: systemClock })

type PublishedRouter = Pick<Router, 'replaceAll' | 'portAddresses' | 'certificates' | 'usesPlatformTls'>

interface Bench {
  readonly sql: Database
  readonly service: string
  readonly environment: string
  readonly tables: (readonly Route[])[]
  readonly router: PublishedRouter
}

async function openBench(t: Cleanup): Promise<Bench> {
  const { sql } = await testDatabase(t)
  const { serviceId: service, environmentId: environment } = (await addPlace(sql)).service
  const tables: (readonly Route[])[] = []
  const replaceAll = async (routes: readonly Route[]): Promise<readonly number[]> => {
    tables.push(routes)
    return []
  }
  const router = { replaceAll, portAddresses: async () => [], certificates: async () => [], ...noTls }
  return { sql, service, environment, tables, router }
}
const { signal } = new AbortController()
const now = new Date('2026-01-01T00:00:00Z')
const host = (name: string, internal_port: number) => ({
  host: `${name}.localhost`,
  port_name: name,
  internal_port,
  is_default: internal_port === 80,
})
/** A router that serves no certificates of the platform. */
const noTls = { usesPlatformTls: () => false }
const endpoint = (port: number, address = '10.0.0.1') => ({ port, address })

test('each host leads to the endpoints of its port', async (t) => {
  const { sql, service, environment, tables, router } = await openBench(t)
  await replaceHosts(sql, service, [host('web', 80), host('admin', 81)], now)
  assert.ok(await setEndpoints(sql, service, service, [endpoint(80), endpoint(80, '10.0.0.2'), endpoint(82)], now))
  await createRoutePublisher({ database: sql, marks: marksOf(sql), router }).apply(signal)
  const [admin, web] = tables[0] ?? []
  assert.deepEqual([web?.replicas, admin?.replicas], [{ environment, release: service }, undefined])
  assert.deepEqual(
    web?.endpoints,
    [endpoint(80), endpoint(80, '10.0.0.2')].map(({ port, address }) => ({ address, port })),
  )
  assert.equal(web?.reason, undefined)
  assert.deepEqual([admin?.endpoints, admin?.reason], [[], 'it was not deployed yet'])
})

test('the publisher reports ports that other programs use, by the last table', async (t) => {
  const { sql, service } = await openBench(t)
  const listening = { ...host('tcp', 80), public_port: 40001, public_protocol: 'TCP' as const }
  await replaceHosts(sql, service, [host('web', 80), listening], now)
  let taken: readonly number[] = [40001, 40002]
  const publisher = createRoutePublisher({
    database: sql,
    marks: marksOf(sql),
    router: { replaceAll: async () => taken, portAddresses: async () => [], certificates: async () => [], ...noTls },
  })
  assert.deepEqual(publisher.lostPorts(service), [])
  await publisher.apply(signal)
  assert.deepEqual([publisher.lostPorts(service), publisher.lostPorts('another')], [[40001], []])
  taken = []
  await publisher.apply(signal)
  assert.deepEqual(publisher.lostPorts(service), [])
})

test('the publisher records where a cluster opens ports, and says which are reached nowhere yet', async (t) => {
  const { sql, service } = await openBench(t)
  const listening = (port: number) => ({
    ...host(`tcp:${port}`, port),
    public_port: port,
    public_protocol: 'TCP' as const,
  })
  await replaceHosts(sql, service, [host('web', 80), listening(40001), listening(40002)], now)
  let ports: readonly PortAddress[] = [
    { service, port: 40001, reached: { host: '203.0.113.1', port: 31_000 } },
    { service, port: 40002, reached: { reason: 'no address' } },
  ]
  const router = {
    replaceAll: async () => [],
    portAddresses: async () => ports,
    certificates: async () => [],
    ...noTls,
  }
  const publisher = createRoutePublisher({ database: sql, marks: marksOf(sql), router })
  const outsides = async () =>
    (await listServiceRoutes(sql, service)).flatMap(({ public_port, outside }) =>
      outside ? [{ public_port, ...outside }] : [],
    )
  await publisher.apply(signal)
  assert.deepEqual(await outsides(), [{ public_port: 40001, host: '203.0.113.1', port: 31_000 }])
  assert.deepEqual(publisher.unreached('another'), [])
  assert.match(
    unreachedText(publisher.unreached(service)) ?? '',
    /^Nobody reaches the public port 40002 yet: no address/,
  )
  ports = [{ service, port: 40001, reached: { reason: 'gone' } }]
  await publisher.apply(signal)
  assert.deepEqual(await outsides(), [])
  ports = []
  await publisher.apply(signal)
  assert.equal(unreachedText(publisher.unreached(service)), undefined)
})

test('a refused route concerns its own service, and the reconciler reports it', async (t) => {
  const { sql, service } = await openBench(t)
  await replaceHosts(sql, service, [host('web', 80)], now)
  const refusals = new Map([[service, 'another Ingress has the host']])
  const replaceAll = async (): Promise<never> => {
    throw new RoutesRefusedError(refusals)
  }
  const publisher = createRoutePublisher({
    database: sql,
    marks: marksOf(sql),
    router: { replaceAll, portAddresses: async () => [], certificates: async () => [], ...noTls },
  })
  assert.deepEqual(await publisher.apply(signal), [])
  assert.equal(publisher.refusalOf(service), 'another Ingress has the host')
  assert.equal(publisher.refusalOf('another'), undefined)
  await replaceHosts(sql, service, [host('web', 81)], now)
  await assert.rejects(publisher.reconciler.reconcile(signal), /another Ingress has the host/)
})

test('says which ports are in use, and nothing where none is', () => {
  assert.equal(lostPortsText([]), undefined)
  assert.match(lostPortsText([40001]) ?? '', /^Port 40001 of this machine is in use by another program/)
  assert.match(lostPortsText([40001, 40002]) ?? '', /^Ports 40001, 40002 of this machine are in use/)
})

test('the version grows with every change and only then', async (t) => {
  const { sql, service } = await openBench(t)
  await replaceHosts(sql, service, [host('web', 80)], now)
  const first = await readRouteVersion(sql)
  assert.ok(!(await leadsTo(sql, service, service, [endpoint(80)])))
  assert.ok(await setEndpoints(sql, service, service, [endpoint(80)], now))
  assert.ok(await leadsTo(sql, service, service, [endpoint(80)]))
  assert.ok(!(await setEndpoints(sql, service, service, [endpoint(80)], now)))
  assert.equal(await readRouteVersion(sql), first + 1)
})

test('a host keeps its endpoints when its port is unchanged, and loses them otherwise', async (t) => {
  const { sql, service } = await openBench(t)
  const endpoints = async () => {
    const rows = await sql<{ host: string; count: number }[]>`
      select host, jsonb_array_length(endpoints) as count from route order by host`
    return Object.fromEntries(rows.map((row) => [row.host, row.count]))
  }
  await replaceHosts(sql, service, [host('a', 80), host('b', 81), host('c', 82)], now)
  await setEndpoints(sql, service, service, [endpoint(80), endpoint(81), endpoint(82)], now)
  await replaceHosts(sql, service, [host('a', 80), host('b', 90), host('d', 80)], now)
  assert.deepEqual(await endpoints(), { 'a.localhost': 1, 'b.localhost': 0, 'd.localhost': 0 })
  await replaceHosts(sql, service, [], now)
  assert.deepEqual(await endpoints(), {})
})

test('the reconciler publishes changes at once and the whole table periodically', async (t) => {
  const { sql, service, tables, router } = await openBench(t)
  const { reconciler } = createRoutePublisher({ database: sql, marks: marksOf(sql), router })
  await reconciler.reconcile(signal)
  assert.equal(tables.length, 1)
  await reconciler.reconcile(signal)
  assert.equal(tables.length, 1)
  await replaceHosts(sql, service, [host('web', 80)], now)
  await reconciler.reconcile(signal)
  assert.equal(tables.length, 2)
  for (let turn = 0; turn < 5; turn++) await reconciler.reconcile(signal)
  assert.equal(tables.length, 3)
})

test('one hand-over at a time, and a failed one keeps none from following', async (t) => {
  const { sql, tables, router } = await openBench(t)
  let running = 0
  let most = 0
  let failures = 2
  const slow: PublishedRouter = {
    ...router,
    replaceAll: async (routes, stop) => {
      most = Math.max(most, ++running)
      await sql`select pg_sleep(0.01)`
      running--
      if (failures-- > 0) throw new Error('away')
      return router.replaceAll(routes, stop)
    },
  }
  const { apply, reconciler } = createRoutePublisher({ database: sql, marks: marksOf(sql), router: slow })
  const outcomes = await Promise.allSettled([apply(signal), reconciler.reconcile(signal), apply(signal), apply(signal)])
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'fulfilled', 'rejected', 'rejected'])
  assert.equal(most, 1)
  assert.equal(tables.length, 2)
})

test('an address at a public port is elsewhere when no host of the service leads to it', async (t) => {
  const { sql, service } = await openBench(t)
  await replaceHosts(sql, service, [host('web', 80), host('admin', 81)], now)
  await setEndpoints(sql, service, service, [{ address: '10.0.0.1', port: 80 }], now)
  const isElsewhere = (address: string, port: number) => leadsElsewhere(sql, service, [{ address, port }])
  assert.deepEqual([await isElsewhere('10.0.0.1', 80), await isElsewhere('10.0.0.1', 81)], [false, false])
  assert.deepEqual([await isElsewhere('10.0.0.2', 80), await isElsewhere('10.0.0.2', 9000)], [true, false])
})
