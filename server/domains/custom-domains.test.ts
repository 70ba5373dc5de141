import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { createFakeRouter } from '../routers/index.ts'
import { addEnvironment, addPlace, addService } from '../variables/testing.ts'
import { createCustomDomains } from './custom-domains.ts'
import { judge, type Resolved } from './domain-check.ts'
import { createRoutePublisher } from './publisher.ts'
import { replaceHosts, setEndpoints } from './route-store.ts'

async function openBench(t: Cleanup, answers: Readonly<Record<string, Resolved>> = {}) {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const service = { id: place.service.serviceId, name: 'shop' }
  const router = createFakeRouter()
  const asked: string[] = []
  const domains = createCustomDomains({
    database: sql,
    clock: systemClock,
    domain: 'apps.example.org',
    ownHosts: ['quayside.example.org'],
    resolve: async (names) => {
      asked.push(...names)
      return names.map((name) => answers[name] ?? { addresses: [] })
    },
  })
  const publisher = createRoutePublisher({ database: sql, router })
  return {
    sql,
    service,
    domains,
    asked,
    /** A service of another environment. */
    other: async () => {
      const environment = await addEnvironment(sql, place.project)
      return { id: (await addService(sql, environment)).serviceId, name: 'other' }
    },
    /** A service of the same environment. */
    neighbour: async () => ({ id: (await addService(sql, place.environment)).serviceId, name: 'neighbour' }),
    /** Where each host leads now. */
    table: async () => {
      await publisher.apply(new AbortController().signal)
      return Object.fromEntries(
        router.routes.map(({ host, path = '', endpoints }) => [host + path, endpoints[0]?.port]),
      )
    },
    router,
    publish: () => publisher.apply(new AbortController().signal),
  }
}
const now = new Date('2026-01-01T00:00:00Z')
const host = (name: string, internal_port: number, is_default = true) => ({
  host: name,
  port_name: name,
  internal_port,
  is_default,
})
const request = (domain: string) => ({ domain, generate_certificate: false })
const endpoint = (port: number) => ({ port, address: '10.0.0.1' })

test('a custom domain of a deployed service answers at once, at its default port', async (t) => {
  const { sql, service, domains, table } = await openBench(t)
  await replaceHosts(
    sql,
    service.id,
    [host('shop.apps.example.org', 80), host('admin.apps.example.org', 81, false)],
    now,
  )
  await setEndpoints(sql, service.id, service.id, [endpoint(80), endpoint(81)], now)
  const made = await domains.create(service, request('Shop.Example.com'))
  assert.equal(made.domain, 'shop.example.com')
  assert.equal(made.validation_domain, `shop-${service.id.slice(0, 8)}.apps.example.org`)
  assert.equal((await table())['shop.example.com'], 80)
  await domains.edit(service, made.id, request('*.example.com'))
  assert.deepEqual(await table(), { '*.example.com': 80, 'admin.apps.example.org': 81, 'shop.apps.example.org': 80 })
  await domains.remove(service, made.id)
  assert.deepEqual(Object.keys(await table()), ['admin.apps.example.org', 'shop.apps.example.org'])
})

test('custom domains go where the default public port goes, and wait while there is none', async (t) => {
  const { sql, service, domains, table } = await openBench(t)
  await domains.create(service, request('shop.example.com'))
  assert.deepEqual(await table(), {})
  await replaceHosts(sql, service.id, [host('shop.apps.example.org', 80)], now)
  await setEndpoints(sql, service.id, service.id, [endpoint(80), endpoint(90)], now)
  assert.equal((await table())['shop.example.com'], 80)
  await replaceHosts(sql, service.id, [host('shop.apps.example.org', 90)], now)
  assert.deepEqual(await table(), { 'shop.apps.example.org': undefined, 'shop.example.com': undefined })
  await setEndpoints(sql, service.id, service.id, [endpoint(90)], now)
  assert.equal((await table())['shop.example.com'], 90)
  await replaceHosts(sql, service.id, [], now)
  assert.deepEqual(await table(), {})
  assert.equal((await domains.list(service)).length, 1)
})

test('a domain belongs to one environment', async (t) => {
  const { service, domains, other } = await openBench(t)
  const first = await domains.create(service, request('shop.example.com'))
  const second = await other()
  await assert.rejects(domains.create(second, request('SHOP.example.com')), { code: 'conflict' })
  await assert.rejects(domains.create(service, request('shop.example.com')), { code: 'conflict' })
  await assert.rejects(domains.get(second, first.id), { code: 'notFound' })
  await assert.rejects(domains.edit(second, first.id, request('x.example.com')), { code: 'notFound' })
  await assert.rejects(domains.remove(second, first.id), { code: 'notFound' })
  assert.equal((await domains.edit(service, first.id, request('shop.example.com'))).id, first.id)
})

test('services of one environment share a domain, each at paths of its own', async (t) => {
  const { sql, service, domains, neighbour, router, publish } = await openBench(t)
  const second = await neighbour()
  await replaceHosts(sql, service.id, [host('shop.apps.example.org', 80)], now)
  const api = { ...host('api.apps.example.org', 90, false), path: '/api', rewrite: '/v1' }
  await replaceHosts(sql, second.id, [api], now)
  await setEndpoints(sql, service.id, service.id, [endpoint(80)], now)
  await setEndpoints(sql, second.id, second.id, [endpoint(90)], now)
  await domains.create(service, request('shop.example.com'))
  await domains.create(second, request('shop.example.com'))
  await publish()
  const shared = router.routes.filter((route) => route.host === 'shop.example.com')
  assert.deepEqual(
    shared.map(({ service: id, path, rewrite, endpoints }) => [id, path, rewrite, endpoints[0]?.port]),
    [
      [service.id, undefined, undefined, 80],
      [second.id, '/api', '/v1', 90],
    ],
  )
})

test('two services with the same path of a domain are refused, whichever comes last', async (t) => {
  const { sql, service, domains, neighbour } = await openBench(t)
  const second = await neighbour()
  const at = (name: string, path: string) => ({ ...host(`${name}.apps.example.org`, 80), path })
  await replaceHosts(sql, service.id, [at('one', '/api')], now)
  await replaceHosts(sql, second.id, [at('two', '/api')], now)
  await domains.create(service, request('shop.example.com'))
  const refusal = { code: 'conflict', message: /"\/api" of the domain "shop\.example\.com" leads to the service "/ }
  await assert.rejects(domains.create(second, request('shop.example.com')), refusal)
  await replaceHosts(sql, second.id, [at('two', '/')], now)
  await domains.create(second, request('shop.example.com'))
  await assert.rejects(
    inTransaction(sql, (inside) => replaceHosts(inside, second.id, [at('two', '/api')], now)),
    refusal,
  )
  await assert.rejects(
    inTransaction(sql, (inside) => replaceHosts(inside, service.id, [at('one', '/')], now)),
    {
      code: 'conflict',
      message: /^The root of the domain "shop\.example\.com"/,
    },
  )
})

test('of two environments that ask for a domain at the same moment one gets it', async (t) => {
  const { service, domains, other } = await openBench(t)
  const second = await other()
  for (const round of [1, 2, 3, 4, 5]) {
    const name = `shop${round}.example.com`
    const made = await Promise.allSettled([service, second].map((owner) => domains.create(owner, request(name))))
    assert.deepEqual(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], name)
  }
})

test('a port with a path leads from the custom domains too, and leaves them with its path', async (t) => {
  const { sql, service, domains, table } = await openBench(t)
  const admin = { ...host('admin.apps.example.org', 81, false), path: '/admin' }
  const hosts = [host('shop.apps.example.org', 80), admin, { ...admin, host: 'shop.apps.example.org' }]
  await replaceHosts(sql, service.id, hosts, now)
  await setEndpoints(sql, service.id, service.id, [endpoint(80), endpoint(81)], now)
  await domains.create(service, request('shop.example.com'))
  assert.deepEqual(await table(), {
    'admin.apps.example.org/admin': 81,
    'shop.apps.example.org': 80,
    'shop.apps.example.org/admin': 81,
    'shop.example.com': 80,
    'shop.example.com/admin': 81,
  })
  await replaceHosts(
    sql,
    service.id,
    [host('shop.apps.example.org', 80), host('admin.apps.example.org', 81, false)],
    now,
  )
  assert.deepEqual(await table(), {
    'admin.apps.example.org': undefined,
    'shop.apps.example.org': 80,
    'shop.example.com': 80,
  })
})

test('names that DNS does not have, and those of the platform, are refused', async (t) => {
  const { service, domains } = await openBench(t)
  const bad = ['', 'localhost', '*', '*.com', 'a..b', '-a.org', 'a.org/x', 'a.org:80', 'bücher.example', '10.0.0.1']
  const own = ['apps.example.org', 'x.apps.example.org', '*.apps.example.org', 'quayside.example.org', 'a.*.org']
  for (const domain of [...bad, ...own, `${'a'.repeat(64)}.org`]) {
    await assert.rejects(
      domains.create(service, request(domain)),
      { code: 'invalid', message: /^domain must / },
      domain,
    )
  }
  for (const domain of ['xn--bcher-kva.example', '*.example.org', 'a-b.example.org']) {
    await domains.create(service, request(domain))
  }
})

test('the check tells of every domain what DNS says, a wildcard by one of its names', async (t) => {
  const answers = { 'shop.example.com': { addresses: [] }, 'any.example.com': { alias: 'x.org', addresses: [] } }
  const { service, domains, asked } = await openBench(t, answers)
  assert.deepEqual(await domains.check(service), [])
  assert.deepEqual(asked, [])
  await domains.create(service, request('shop.example.com'))
  await domains.create(service, request('*.example.com'))
  const found = await domains.check(service)
  assert.deepEqual(found.map(({ status }) => status), ['DOMAIN_NOT_CONFIGURED', 'DOMAIN_LINKED_TO_WRONG_HOST'])
  assert.deepEqual(asked.slice(1), ['shop.example.com', 'any.example.com'])
}) // biome-ignore format: one line

const target = { host: 'shop.apps.org', resolved: { addresses: ['192.0.2.1'] } }
const judgements: [string, { use_cdn?: boolean; found: Resolved; status: string }][] = [
  [
    'an alias of ours',
    { found: { alias: 'shop.apps.org', addresses: ['192.0.2.1'] }, status: 'MATCHES_LOAD_BALANCER_HOST' },
  ],
  ['an address of ours', { found: { addresses: ['192.0.2.1'] }, status: 'RESOLVES_TO_IP' }],
  ['another address', { found: { addresses: ['192.0.2.9'] }, status: 'DOMAIN_LINKED_TO_WRONG_HOST' }],
  ['another address behind a CDN', { use_cdn: true, found: { addresses: ['192.0.2.9'] }, status: 'RESOLVES_TO_IP' }],
  ['another alias', { found: { alias: 'x.org', addresses: ['192.0.2.9'] }, status: 'DOMAIN_LINKED_TO_WRONG_HOST' }],
  ['nothing', { found: { addresses: [] }, status: 'DOMAIN_NOT_CONFIGURED' }],
  ['no answer', { found: { addresses: [], failure: 'late' }, status: 'GENERIC_FAILURE' }],
]
for (const [what, { use_cdn = false, found, status }] of judgements) {
  test(`DNS with ${what} is ${status}`, () => {
    const answer = judge({ domain: 'a.org', use_cdn }, target, found)
    assert.deepEqual([answer.domain_name, answer.status], ['a.org', status])
  })
}
