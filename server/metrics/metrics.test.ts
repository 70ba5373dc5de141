import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { countLength } from '@quayside/contract/traffic-counts.ts'
import parse from 'parse-prometheus-text-format'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { openPepper } from '../vault/index.ts'
import { exposition } from './exposition.ts'
import { metricsSecret } from './index.ts'

const platform = await createPlatform({ after })
const { a, b, call, database, directory } = platform
const secret = metricsSecret(await openPepper({ database, file: `${directory}/token.pepper` })).reveal()
const nasty = 'a "quoted"\\\nname {x="y"} 1'

const counts = Array.from({ length: countLength }, (_, position) => position + 1)
for (const { objects } of [a, b]) {
  await database`insert into traffic_total (service_id, counts) values (${objects.applicationId}, ${counts}::bigint[])`
}
await database`update service set name = ${nasty} where id = ${a.objects.applicationId}`

/** `/metrics` is not an operation of the API. */
const ask = (token: string) =>
  platform.app.inject({ url: '/metrics', headers: { host: 'localhost', authorization: `Bearer ${token}` } })
const readAll = async () => {
  const { statusCode, payload, headers } = await ask(secret)
  assert.equal(statusCode, 200, payload)
  return { families: parse(payload), type: headers['content-type'] }
}
const read = async (path: string, token: string) => {
  const { status, text, headers } = await call(token, 'GET', path)
  assert.equal(status, 200, text)
  return { families: parse(text), text, type: headers['content-type'] }
}
const servicesIn = (families: ReturnType<typeof parse>): (string | undefined)[] =>
  families.find(({ name }) => name === 'quayside_service_info')?.metrics.map(({ labels }) => labels?.['service_id']) ??
  []

test('the operator reads the platform and the services of every organization', async () => {
  const { families, type } = await readAll()
  assert.equal(type, 'text/plain; version=0.0.4; charset=utf-8')
  const names = families.map(({ name }) => name)
  for (const name of ['quayside_build_info', 'process_resident_memory_bytes', 'quayside_disk_available_bytes']) {
    assert.ok(names.includes(name), name)
  }
  assert.ok(names.includes('quayside_database_size_bytes') && names.includes('quayside_services'))
  assert.deepEqual(servicesIn(families).toSorted(), [a, b].map(({ objects }) => objects.applicationId).toSorted())
})

test('an organization reads its own services only, with names of any characters', async () => {
  const { families, type } = await read(`/organization/${a.organizationId}/metrics`, a.tokens.READ)
  assert.ok(String(type).startsWith('text/plain'))
  assert.deepEqual(servicesIn(families), [a.objects.applicationId])
  const requests = families.find(({ name }) => name === 'quayside_service_requests_total')
  assert.equal(requests?.metrics.length, 5)
  assert.deepEqual(requests?.metrics[1]?.value, '2')
  const others = families.filter(({ name }) => !name.startsWith('quayside_service_'))
  assert.deepEqual(
    others.map(({ name, metrics: [one] }) => [name, one?.value]),
    [['quayside_metrics_truncated_services', '0']],
  )
})

test('the buckets of a histogram grow, and the last one has every request', async () => {
  const { families, text } = await read(`/organization/${a.organizationId}/metrics`, a.tokens.READ)
  const [duration] = families.find(({ name }) => name === 'quayside_service_request_duration_seconds')?.metrics ?? []
  const buckets = Object.entries(duration?.buckets ?? {}).map(
    ([bound, count]) => [Number(bound), Number(count)] as const,
  )
  assert.equal(buckets.length, 18)
  assert.equal(duration?.buckets?.['+Inf'], '693')
  assert.match(text, /^quayside_service_request_duration_seconds_count\{.*\} 693$/m)
  const finite = buckets.filter(([bound]) => Number.isFinite(bound)).toSorted(([one], [other]) => one - other)
  assert.ok(finite.every(([, count], index) => index === 0 || count > (finite[index - 1]?.[1] ?? 0)))
})

test('without the token of the operator the platform shows nothing', async () => {
  for (const token of [a.tokens.ADMIN, 'wrong', `${secret}x`]) {
    assert.equal((await ask(token)).statusCode, 401)
  }
})

/** Returns how many canceled deployments the figures count. */
async function canceled(): Promise<number> {
  const { families } = await readAll()
  const family = families.find(({ name }) => name === 'quayside_deployments_total')
  return Number(family?.metrics.find(({ labels }) => labels?.['status'] === 'CANCELED')?.value ?? 0)
}

/** Adds a canceled deployment that ended just now, and waits until that has passed. */
async function addCanceled(id: string): Promise<void> {
  const fresh = await platform.addObjects(a)
  const endedAt = new Date(platform.rooms.clock.now().getTime() + 1)
  await database`insert into workflow (id, kind, key, state, input) values (${id}, 'deployment', ${id}, 'done', '{}')`
  await database`
    insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
      created_at, updated_at, started_at, finished_at)
    values (${id}, ${fresh.environmentId}, ${id}, 'DEPLOY', 'CANCELED', 'API', 'x', 'x', now(), now(), now(),
      ${endedAt})`
  await until('it has ended', () => platform.rooms.clock.now() > endedAt)
}

test('deployments are counted once each, also if their environment is deleted', async () => {
  const before = await canceled()
  const id = '0190a000-0000-7000-8000-0000000c0117'
  await addCanceled(id)
  assert.equal(await canceled(), before + 1)
  await database`delete from deployment_request where id = ${id}`
  assert.equal(await canceled(), before + 1)
})

test('deployments are counted once each if several programs read the figures at the same time', async () => {
  const before = await canceled()
  await addCanceled('0190a000-0000-7000-8000-0000000c0118')
  await Promise.all([canceled(), canceled(), canceled()])
  assert.equal(await canceled(), before + 1)
})

test('labels are escaped, and numbers that are not finite have their own words', async () => {
  const text = await exposition([
    {
      name: 'x',
      help: 'one\ntwo',
      type: 'gauge',
      samples: [{ labels: { a: '"\\\n' }, value: Number.POSITIVE_INFINITY }],
    },
    { name: 'empty', help: 'none', type: 'gauge', samples: [] },
  ])
  assert.equal(text, '# HELP x one\\ntwo\n# TYPE x gauge\nx{a="\\"\\\\\\n"} +Inf\n')
})

test('services and certificates beyond the limits of an answer are counted', async (t) => {
  const services = 5_002
  const { applicationId } = a.objects
  await database`
    insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, settings)
    select gen_random_uuid(), environment_id, stage_id, now(), now(), kind, 'many-' || n, settings
    from service, generate_series(1, ${services}) as n where id = ${applicationId}`
  await database`
    insert into traffic_total (service_id, counts) select id, ${counts}::bigint[] from service where name like 'many-%'`
  await database`
    insert into host_certificate (host, chain, sealed_key, not_before, not_after, due_at, updated_at)
    select 'many-' || n || '.test', 'x', 'x', now(), now(), now(), now() from generate_series(1, 1003) as n`
  const begin = performance.now()
  const [all, own] = [await ask(secret), await call(a.tokens.READ, 'GET', `/organization/${a.organizationId}/metrics`)]
  t.diagnostic(`${all.payload.length + own.text.length} bytes in ${Math.round(performance.now() - begin)} ms`)
  assert.match(all.payload, /^quayside_metrics_truncated_services 4$/m)
  assert.match(all.payload, /^quayside_metrics_truncated_certificates 3$/m)
  assert.match(own.text, /^quayside_metrics_truncated_services 3$/m)
  for (const text of [all.payload, own.text]) assert.equal(text.match(/^quayside_service_info/gm)?.length, 5_000)
})

test('a long answer leaves turns to other work, and writes shared labels before own ones', async () => {
  const labels = { service: 'a"b' }
  const samples = Array.from({ length: 20_000 }, (_, index) => ({ labels, own: { le: `${index}` }, value: index }))
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  const text = await exposition([{ name: 'x', help: 'many', type: 'gauge', samples }])
  isOver = true
  assert.ok(turns >= 8, `${turns} turns`)
  assert.ok(text.endsWith('x{service="a\\"b",le="19999"} 19999\n'))
  assert.equal(text.split('\n').length, 20_003)
})
