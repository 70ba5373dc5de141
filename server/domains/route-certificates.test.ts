import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createFakeRouter } from '../routers/index.ts'
import { addPlace } from '../variables/testing.ts'
import { createCustomDomains } from './custom-domains.ts'
import { listLinks, publicAddressOf } from './links.ts'
import { createRoutePublisher, routeTrouble } from './publisher.ts'
import { createRouteMarks } from './route-marks.ts'
import { replaceHosts } from './route-store.ts'

const { signal } = new AbortController()
const now = new Date('2026-01-01T00:00:00Z')

/** A service on a cluster with a domain of its own, whose settings name an issuer and a Secret. */
async function openBench(t: Cleanup) {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const id = place.service.serviceId
  const router = createFakeRouter()
  const publisher = createRoutePublisher({ database: sql, marks: createRouteMarks({ database: sql, clock }), router })
  const domains = createCustomDomains({
    database: sql,
    clock,
    domain: 'apps.example.org',
    ownHosts: [],
    mode: 'waived',
    nameServers: { resolve: async (names) => names.map(() => ({ addresses: ['192.0.2.1'] })), records: async () => [] },
  })
  const host = `shop-${id.slice(0, 8)}.far.example.com`
  const dns = { provider: 'QOVERY', domain: 'far.example.com' }
  const settle = (settings: Readonly<Record<string, string | boolean>>) => sql`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l', dns_provider = ${sql.json(dns)},
      advanced_settings = ${sql.json(settings)}`
  const web = { host, port_name: 'web', internal_port: 80, is_default: true }
  await replaceHosts(sql, id, [web], now)
  const [row] = await sql<{ kind: 'application' }[]>`select * from service where id = ${id}`
  assert.ok(row)
  return {
    sql,
    id,
    host,
    router,
    publisher,
    domains,
    settle,
    service: { id, name: 'shop', organization_id: place.service.organizationId },
    links: async () => {
      // The query reads only the id and the kind.
      const links = await listLinks(
        sql,
        row as never,
        publicAddressOf({ routerPort: 8080, routerTls: undefined, publicRouterPorts: {} }),
      )
      return links.map(({ url, external_port }) => [url, external_port])
    },
  }
}

test('links are https once the router serves the certificate of their host, and not before or after', async (t) => {
  const { id, host, router, publisher, settle, links } = await openBench(t)
  await settle({ 'tls.secret_name': 'wild' })
  await publisher.apply(signal)
  assert.deepEqual(
    router.routes.map(({ tls }) => tls),
    [{ from: { secret: 'wild' }, redirects: true }],
  )
  assert.deepEqual(await links(), [[`http://${host}`, 80]])
  const report = async (state: 'READY' | 'FAILED' | 'EXPIRED', message: string | null) => {
    router.secured = [{ service: id, host, certificate: { state, message } }]
    await publisher.apply(signal)
  }
  await report('FAILED', 'the Secret does not exist')
  assert.deepEqual(await links(), [[`http://${host}`, 80]])
  assert.equal(routeTrouble(publisher, id), `The certificate of ${host} is not ready: the Secret does not exist.`)
  await report('READY', null)
  assert.deepEqual(await links(), [[`https://${host}`, 443]])
  assert.equal(routeTrouble(publisher, id), undefined)
  await report('EXPIRED', 'it expired')
  assert.deepEqual(await links(), [[`https://${host}`, 443]])
  router.secured = []
  await publisher.apply(signal)
  assert.deepEqual(await links(), [[`http://${host}`, 80]])
})

test('a custom domain says the state of its certificate, and why none is made', async (t) => {
  const { id, router, publisher, settle, domains, service } = await openBench(t)
  const domain = 'shop.example.net'
  const created = await domains.create(service, { domain, generate_certificate: true })
  assert.equal(created.certificate.state, 'UNAVAILABLE')
  assert.match(String(created.certificate.message), /the router of the platform speaks HTTP/)
  const state = async () => (await domains.get(service, created.id)).certificate
  await settle({ 'tls.secret_name': 'wild' })
  assert.match(String((await state()).message), /the advanced setting tls\.cluster_issuer/)
  await settle({ 'tls.cluster_issuer': 'acme' })
  assert.equal((await state()).state, 'PENDING')
  await publisher.apply(signal)
  const tls = { from: { issuer: 'acme' }, redirects: true }
  assert.deepEqual(router.routes.find(({ host }) => host === domain)?.tls, tls)
  const certificate = { state: 'FAILED', message: 'cert-manager could not make it: rate limited' } as const
  router.secured = [{ service: id, host: domain, certificate }]
  await publisher.apply(signal)
  assert.deepEqual(await state(), {
    state: 'FAILED',
    message: 'Cert-manager could not make it: rate limited.',
  })
  const [checked] = await domains.check(service)
  assert.match(String(checked?.error_details), /Certificate: Cert-manager could not make it: rate limited\.$/)
  const edited = await domains.edit(service, created.id, { domain, generate_certificate: false })
  assert.deepEqual(edited.certificate, { state: 'NOT_REQUESTED', message: null })
})

test('a custom domain cannot be a name of the domain of its cluster, whose certificate it would have', async (t) => {
  const { settle, domains, service } = await openBench(t)
  await settle({ 'tls.secret_name': 'wild' })
  const add = (domain: string) => domains.create(service, { domain, generate_certificate: true })
  for (const domain of ['far.example.com', '*.far.example.com', 'login.far.example.com', 'a.b.far.example.com']) {
    await assert.rejects(add(domain), { code: 'invalid', message: /the platform assigns those names/ }, domain)
  }
  // It covers no name of a service.
  await add('*.example.com')
  const { id } = await add('shop.example.net')
  const rename = domains.edit(service, id, { domain: 'login.far.example.com', generate_certificate: true })
  await assert.rejects(rename, { code: 'invalid' })
})

test('a custom domain on this machine has a certificate only if the authority can make it', async (t) => {
  const { sql, service, router, id } = await openBench(t)
  const domains = createCustomDomains({
    database: sql,
    clock,
    domain: 'apps.example.org',
    ownHosts: [],
    mode: 'waived',
    nameServers: { resolve: async () => [], records: async () => [] },
    speaksTls: true,
    certifies: (host) => host.endsWith('.example.net') && !host.startsWith('*.'),
  })
  const marks = createRouteMarks({ database: sql, clock })
  const publisher = createRoutePublisher({ database: sql, marks, router, facts: { speaksTls: true } })
  const add = async (domain: string, generate_certificate = true) =>
    (await domains.create(service, { domain, generate_certificate })).certificate
  assert.equal((await add('shop.example.net')).state, 'PENDING')
  assert.equal((await add('plain.example.net', false)).state, 'NOT_REQUESTED')
  const [wild, unknown] = [await add('*.example.net'), await add('shop.lab.test')]
  assert.deepEqual([wild.state, unknown.state], ['UNAVAILABLE', 'UNAVAILABLE'])
  assert.match(wild.message ?? '', /in DNS only/)
  assert.match(unknown.message ?? '', /QUAYSIDE_ACME_DIRECTORY/)
  await publisher.apply(signal)
  const tlsOf = (host: string) => router.routes.find((route) => route.host === host)?.tls
  assert.deepEqual(tlsOf('shop.example.net'), { from: 'platform', redirects: true })
  assert.equal(tlsOf('plain.example.net'), undefined)
  router.secured = [{ service: id, host: 'shop.example.net', certificate: { state: 'READY', message: null } }]
  await publisher.apply(signal)
  const [row] = await sql<{ kind: 'application' }[]>`select * from service where id = ${id}`
  // The query reads only the id and the kind.
  const address = publicAddressOf({ routerPort: 8080, routerTls: { port: 8443 }, publicRouterPorts: {} })
  const links = await listLinks(sql, row as never, address)
  assert.ok(links.some(({ url }) => url === 'https://shop.example.net:8443'))
  assert.ok(links.some(({ url }) => url === 'http://plain.example.net:8080'))
})

test('a cluster whose routers are the platform has certificates of the platform with its next table', async (t) => {
  const { sql, id, host, router, settle, links, domains, service } = await openBench(t)
  await settle({})
  await sql`update cluster set engine = 'far'`
  const scope = { engines: ['far'], isRest: false }
  const marks = createRouteMarks({ database: sql, clock })
  const publisher = createRoutePublisher({ database: sql, marks, router, scope })
  const added = await domains.create(service, { domain: 'shop.example.net', generate_certificate: true })
  assert.equal(added.certificate.state, 'UNAVAILABLE')
  router.hasPlatformTls = true
  await publisher.apply(signal)
  router.secured = [{ service: id, host, certificate: { state: 'READY', message: null } }]
  await publisher.apply(signal)
  assert.deepEqual(
    router.routes.map(({ tls }) => tls?.from),
    ['platform', 'platform'],
  )
  assert.ok((await links()).some(([url, port]) => url === `https://${host}` && port === 443))
  const [one] = await domains.list(service)
  assert.equal(one?.certificate.state, 'PENDING')
  // Another router of the cluster, such as a controller, has others.
  router.hasPlatformTls = false
  await publisher.apply(signal)
  await publisher.apply(signal)
  assert.ok(router.routes.every(({ tls }) => tls === undefined))
})
