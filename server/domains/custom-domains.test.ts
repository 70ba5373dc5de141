import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inTransaction } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { createFakeRouter } from '../routers/index.ts'
import { addEnvironment, addPlace, addService } from '../variables/testing.ts'
import { createCustomDomains } from './custom-domains.ts'
import { judge, type Resolved } from './domain-check.ts'
import type { DomainProof } from './proof.ts'
import { createRoutePublisher } from './publisher.ts'
import { createRouteMarks } from './route-marks.ts'
import { replaceHosts, setEndpoints } from './route-store.ts'

async function openBench(t: Cleanup, answers: Readonly<Record<string, Resolved>> = {}, mode: DomainProof = 'waived') {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const organization_id = place.service.organizationId
  const service = { id: place.service.serviceId, name: 'shop', organization_id }
  const router = createFakeRouter()
  const asked: string[] = []
  const domains = createCustomDomains({
    database: sql,
    clock: systemClock,
    domain: 'apps.example.org',
    ownHosts: ['quayside.example.org'],
    mode,
    nameServers: {
      resolve: async (names) => {
        asked.push(...names)
        return names.map((name) => answers[name.replace(/^quayside-[0-9a-f]{32}/, '*')] ?? { addresses: [] })
      },
      records: async () => [],
    },
  })
  const publisher = createRoutePublisher({
    database: sql,
    marks: createRouteMarks({ database: sql, clock: systemClock }),
    router,
  })
  return {
    sql,
    service,
    domains,
    asked,
    /** A service of another environment. */
    other: async () => {
      const environment = await addEnvironment(sql, place.project)
      return { id: (await addService(sql, environment)).serviceId, name: 'other', organization_id }
    },
    /** A service of the same environment. */
    neighbour: async () => ({
      id: (await addService(sql, place.environment)).serviceId,
      name: 'neighbour',
      organization_id,
    }),
    /** Returns the current endpoints of each host. */
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
const route = (name: string, internal_port: number, is_default = true) => ({
  host: name,
  port_name: name,
  internal_port,
  is_default,
})
const request = (domain: string) => ({ domain, generate_certificate: false })
const endpoint = (port: number) => ({ port, address: '10.0.0.1' })

test('a custom domain leads to its default port at once when it needs no proof', async (t) => {
  const { sql, service, domains, table } = await openBench(t)
  await replaceHosts(
    sql,
    service.id,
    [route('shop.apps.example.org', 80), route('admin.apps.example.org', 81, false)],
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

test('a domain of a service on a cluster with a domain of its own points to the name below that domain', async (t) => {
  const answers: Record<string, Resolved> = {}
  const { sql, service, domains } = await openBench(t, answers)
  const digits = service.id.slice(0, 8)
  await sql`
    update cluster set kubernetes = 'SELF_MANAGED', sealed_kubeconfig = 'v1.b25l',
      dns_provider = '{"provider":"QOVERY","domain":"apps.far.org"}'`
  const made = await domains.create(service, request('shop.example.com'))
  assert.equal(made.validation_domain, `shop-${digits}.apps.far.org`)
  const records = made.proof.records.map(({ value }) => value)
  assert.equal(records[0], made.validation_domain)
  const checked = async (alias: string) => {
    answers['shop.example.com'] = { alias, addresses: [] }
    return (await domains.check(service))[0]?.status
  }
  assert.equal(await checked(`any-name-${digits}.apps.far.org`), 'MATCHES_LOAD_BALANCER_HOST')
  for (const alias of [`shop-${digits}.apps.example.org`, 'shop-00000000.apps.far.org', `shop-${digits}.other.org`]) {
    assert.equal(await checked(alias), 'DOMAIN_LINKED_TO_WRONG_HOST', alias)
  }
})

test('custom domains go where the default public port goes, and wait while there is none', async (t) => {
  const { sql, service, domains, table } = await openBench(t)
  await domains.create(service, request('shop.example.com'))
  assert.deepEqual(await table(), {})
  await replaceHosts(sql, service.id, [route('shop.apps.example.org', 80)], now)
  await setEndpoints(sql, service.id, service.id, [endpoint(80), endpoint(90)], now)
  assert.equal((await table())['shop.example.com'], 80)
  await replaceHosts(sql, service.id, [route('shop.apps.example.org', 90)], now)
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

test('services of one environment share a domain when their paths differ', async (t) => {
  const { sql, service, domains, neighbour, router, publish } = await openBench(t)
  const second = await neighbour()
  await replaceHosts(sql, service.id, [route('shop.apps.example.org', 80)], now)
  const api = { ...route('api.apps.example.org', 90, false), path: '/api', rewrite: '/v1' }
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

test('two services with the same path of a domain are rejected in either order', async (t) => {
  const { sql, service, domains, neighbour } = await openBench(t)
  const second = await neighbour()
  const at = (name: string, path: string) => ({ ...route(`${name}.apps.example.org`, 80), path })
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

test('only one environment gets a domain when two request it at the same time', async (t) => {
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
  const admin = { ...route('admin.apps.example.org', 81, false), path: '/admin' }
  const hosts = [route('shop.apps.example.org', 80), admin, { ...admin, host: 'shop.apps.example.org' }]
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
    [route('shop.apps.example.org', 80), route('admin.apps.example.org', 81, false)],
    now,
  )
  assert.deepEqual(await table(), {
    'admin.apps.example.org': undefined,
    'shop.apps.example.org': 80,
    'shop.example.com': 80,
  })
})

test('an organization has a limit of unproven domains; released ones do not count', async (t) => {
  const { sql, service, domains, neighbour } = await openBench(t, {}, 'required')
  const { id, organization_id } = await neighbour()
  await sql`
    insert into custom_domain (id, service_id, organization_id, created_at, updated_at, domain, generate_certificate,
      use_cdn, pending_since, next_ask_at)
    select gen_random_uuid(), ${id}, ${organization_id}, now(), now(), 'a' || i || '.example.com', false, false,
    now(), now()
    from generate_series(1, 1000) i`
  await assert.rejects(domains.create(service, request('shop.example.com')), {
    code: 'conflict',
    message: /at most 1000 custom domains without a proof/,
  })
  await sql`update custom_domain set next_ask_at = null where domain = 'a1.example.com'`
  assert.equal((await domains.create(service, request('shop.example.com'))).proof.state, 'PENDING')
})

test('a path that another service has is rejected even before the domain is proven', async (t) => {
  const { sql, service, domains, neighbour, table } = await openBench(t, {}, 'required')
  const second = await neighbour()
  for (const { id } of [service, second]) await replaceHosts(sql, id, [route(`${id}.apps.example.org`, 80)], now)
  await domains.create(service, request('shop.example.com'))
  await assert.rejects(domains.create(second, request('shop.example.com')), {
    code: 'conflict',
    message: /^The root of/,
  })
  assert.equal('shop.example.com' in (await table()), false)
})

test('a domain is rejected when DNS cannot have its name or the platform uses it', async (t) => {
  const { service, domains } = await openBench(t)
  const bad = [
    '',
    'localhost',
    '*',
    '*.com',
    'a..b',
    '-a.org',
    'a.org/x',
    'a.org:80',
    '10.0.0.1',
    '*.co.uk',
    '*.example.org',
  ]
  const own = ['apps.example.org', 'x.apps.example.org', '*.apps.example.org', 'quayside.example.org', 'a.*.org']
  for (const domain of [...bad, ...own, `${'a'.repeat(64)}.org`]) {
    await assert.rejects(
      domains.create(service, request(domain)),
      { code: 'invalid', message: /^domain must / },
      domain,
    )
  }
  for (const domain of ['xn--bcher-kva.example', '*.x.example.org', 'a-b.example.org', 'example.org']) {
    await domains.create(service, request(domain))
  }
})

test('the check reports the DNS result of every domain, for a wildcard that of one of its names', async (t) => {
  const answers = { 'shop.example.com': { addresses: [] }, '*.example.com': { alias: 'x.org', addresses: [] } }
  const { service, domains, asked } = await openBench(t, answers)
  assert.deepEqual(await domains.check(service), [])
  assert.deepEqual(asked, [])
  await domains.create(service, request('shop.example.com'))
  await domains.create(service, request('*.example.com'))
  const found = await domains.check(service)
  assert.deepEqual(
    found.map(({ status }) => status),
    ['DOMAIN_NOT_CONFIGURED', 'DOMAIN_LINKED_TO_WRONG_HOST'],
  )
  assert.equal(asked[1], 'shop.example.com')
  assert.match(asked[2] ?? '', /^quayside-[0-9a-f]{32}\.example\.com$/)
})

const host = 'shop-12345678.apps.org'
const ownAliases = new Set([host, 'old-12345678.apps.org'])
const target = { host, ownAliases, resolved: { addresses: ['192.0.2.1'] } }
const records = [
  { type: 'CNAME', name: 'a.org', value: host },
  { type: 'TXT', name: '_quayside.a.org', value: 'quayside-organization=1' },
] as const
const proofOf = (state: 'PROVEN' | 'PENDING' | 'LOST' | 'RELEASED') => ({ state, message: null, records: [...records] })
type Row = [what: string, found: Resolved, whenProven: string, whenPending: string, use_cdn?: boolean]
const right = 'MATCHES_LOAD_BALANCER_HOST'
const absent = 'DOMAIN_NOT_CONFIGURED'
const wrong = 'DOMAIN_LINKED_TO_WRONG_HOST'
const judgements: Row[] = [
  ['an alias of ours', { alias: host, addresses: ['192.0.2.1'] }, right, right],
  [
    'an alias of the time when the service had another name',
    { alias: 'old-12345678.apps.org', addresses: [] },
    right,
    right,
  ],
  ['an address of ours', { addresses: ['192.0.2.1'] }, 'RESOLVES_TO_IP', absent],
  ['another address', { addresses: ['192.0.2.9'] }, wrong, wrong],
  ['another address behind a CDN', { addresses: ['192.0.2.9'] }, 'RESOLVES_TO_IP', absent, true],
  ['another alias', { alias: 'x.org', addresses: ['192.0.2.9'] }, wrong, wrong],
  ['the alias of another service', { alias: 'shop-12345679.apps.org', addresses: [] }, wrong, wrong],
  ['a name below ours', { alias: 'x.shop-12345678.apps.org', addresses: [] }, wrong, wrong],
  ['no record', { addresses: [] }, absent, absent],
  ['no answer', { addresses: [], failure: 'late' }, 'GENERIC_FAILURE', 'GENERIC_FAILURE'],
]
for (const [what, found, whenProven, whenPending, use_cdn = false] of judgements) {
  test(`the check of a domain with ${what} in DNS is ${whenProven} if it is proven, else ${whenPending}`, () => {
    const proven = judge({ domain: 'a.org', use_cdn, proof: proofOf('PROVEN') }, target, found)
    assert.deepEqual([proven.domain_name, proven.status], ['a.org', whenProven])
    const pending = judge({ domain: 'a.org', use_cdn, proof: proofOf('PENDING') }, target, found)
    assert.equal(pending.status, whenPending)
    const named = /a CNAME record a\.org with the value shop-12345678\.apps\.org, or a TXT record _quayside\.a\.org/
    assert.match(pending.error_details ?? '', whenPending === right ? /traffic begins after the next check/ : named)
    const lost = judge({ domain: 'a.org', use_cdn, proof: proofOf('LOST') }, target, found)
    assert.equal(lost.status, whenProven)
    if (whenProven !== right) assert.match(lost.error_details ?? '', /DNS no longer proves/)
  })
}

test('the check of a domain does not reveal private addresses known to the platform’s name servers', () => {
  const found = { addresses: ['10.1.2.3'] }
  const { error_details } = judge({ domain: 'a.org', use_cdn: false, proof: proofOf('PENDING') }, target, found)
  assert.match(error_details ?? '', /a\.org leads to another address/)
  assert.doesNotMatch(error_details ?? '', /10\.1\.2\.3/)
})
