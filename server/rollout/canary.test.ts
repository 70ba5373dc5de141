import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, type Platform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import type { Cleanup } from '../database/testing.ts'

interface Bench extends Platform {
  readonly service: string
  /** Pushes a commit, deploys it, and returns at once. */
  ship(): Promise<void>
  plan(steps: string, seconds: number, more?: object): Promise<void>
  /** Waits until the router has this share. Returns the release of the new version. */
  shares(percent: number): Promise<string>
  /** Waits for the end of the deployment. Returns the state of the service and the reason. */
  ends(): Promise<{ readonly state: string; readonly reason: string | null }>
  running(): Promise<readonly string[]>
  lines(): Promise<string>
  route(): Platform['router']['routes'][number] | undefined
}

async function openBench(t: Cleanup): Promise<Bench> {
  const platform = await createPlatform(t, { works: true })
  const { a, call, database, engine, router } = platform
  const { applicationId: service, environmentId } = a.objects
  const path = `/application/${service}`
  let changes = 0
  const route = () => router.routes.find((one) => one.service === service)
  const bench: Bench = {
    ...platform,
    service,
    route,
    ship: async () => {
      await platform.addRepository(a, `change ${++changes}`)
      assert.equal((await call(a.tokens.DEPLOY, 'POST', `${path}/deploy`, {})).status, 202)
    },
    plan: async (steps, seconds, more = {}) => {
      const body = { 'deployment.canary.steps': steps, 'deployment.canary.step_seconds': seconds, ...more }
      assert.equal((await call(a.tokens.ADMIN, 'PUT', `${path}/advancedSettings`, body)).status, 201)
    },
    shares: async (percent) => {
      await until(`${percent} % go to the new version`, () => route()?.canary?.percent === percent)
      return route()?.canary?.release ?? ''
    },
    ends: async () => {
      await until('nothing is in progress', async () => {
        const open = await database`select from deployment_request where finished_at is null`
        return open.length === 0
      })
      const [row] = await database<{ state: string; reason: string | null }[]>`
        select state, reason from deployment_target where service_id = ${service} order by service_seq desc limit 1`
      return { ...(row ?? assert.fail('no deployment')) }
    },
    running: async () => {
      const seen = await engine.observe(service, new AbortController().signal)
      return seen.state === 'absent' ? [] : [...new Set(seen.replicas.map(({ release }) => release))]
    },
    lines: async () => (await call(a.tokens.READ, 'GET', `/environment/${environmentId}/logs`)).text,
  }
  await bench.ship()
  assert.deepEqual(await bench.ends(), { state: 'DEPLOYED', reason: null })
  return bench
}

const rowsOf = ({ database }: Bench) => database`select from canary`.then(({ length }) => length)

test('a new version gets the share of each step in turn, and everything at the end', async (t) => {
  const bench = await openBench(t)
  const previous = bench.route()?.endpoints
  await bench.plan('5,50', 2)
  await bench.ship()
  const release = await bench.shares(5)
  assert.deepEqual(bench.route()?.endpoints, previous)
  assert.equal(await bench.shares(50), release)
  assert.deepEqual(await bench.ends(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual([bench.route()?.canary, bench.route()?.replicas?.release], [undefined, release])
  assert.equal(await rowsOf(bench), 0)
  assert.match(await bench.lines(), /Step 2 of 2: 50 % of requests go to the new version for 2 s\./)
  await until('the previous version ends', async () => (await bench.running()).join() === release)
})

test('a deployment goes back when too many requests of two routers fail, and says how many', async (t) => {
  const bench = await openBench(t)
  const { router, service } = bench
  const [former] = await bench.running()
  await bench.plan('10', 600)
  await bench.ship()
  const release = await bench.shares(10)
  const of = { service, release }
  router.canaries = [
    { ...of, source: 'one', requests: 100, failed: 4, slow: 0 },
    { ...of, source: 'other service', service: 'other', requests: 100, failed: 100, slow: 0 },
    { ...of, source: 'former version', release: former ?? '', requests: 100, failed: 100, slow: 0 },
  ]
  await until('the first router has reported', async () => {
    const { body } = await bench.call(bench.a.tokens.READ, 'GET', `/service/${service}/canary`)
    return Object(body).canary?.requests === 100
  })
  router.canaries = [{ ...of, source: 'two', requests: 100, failed: 33, slow: 0 }]
  assert.deepEqual(await bench.ends(), {
    state: 'DEPLOYMENT_ERROR',
    reason:
      'It went back to the previous version: 37 of 200 requests to the new version failed (18.5 %, the limit is 5 %).',
  })
  assert.deepEqual([await bench.running(), bench.route()?.replicas?.release], [[former], former])
  assert.deepEqual([bench.route()?.canary, await rowsOf(bench)], [undefined, 0])
})

test('a deployment goes back when too many requests wait too long, and its step shows the limit', async (t) => {
  const bench = await openBench(t)
  const { router, service } = bench
  await bench.plan('10', 600, { 'deployment.canary.max_latency_ms': 250, 'deployment.canary.max_slow_percent': 10 })
  await bench.ship()
  const of = { service, release: await bench.shares(10), source: 'one' }
  assert.equal(bench.route()?.canary?.slowMs, 250)
  router.canaries = [{ ...of, requests: 100, failed: 0, slow: 10 }]
  await until('the router has reported', async () => {
    const { body } = await bench.call(bench.a.tokens.READ, 'GET', `/service/${service}/canary`)
    const { slow, max_latency_ms, max_slow_percent } = Object(Object(body).canary)
    return [slow, max_latency_ms, max_slow_percent].join() === '10,250,10'
  })
  router.canaries = [{ ...of, requests: 200, failed: 0, slow: 50 }]
  assert.deepEqual(await bench.ends(), {
    state: 'DEPLOYMENT_ERROR',
    reason:
      'It went back to the previous version: 50 of 200 requests to the new version waited longer than 250 ms for a ' +
      'response (25 %, the limit is 10 %).',
  })
})

test('a deployment goes back when the new version no longer runs', async (t) => {
  const bench = await openBench(t)
  const { engine, service } = bench
  const [former] = await bench.running()
  await bench.plan('10', 600)
  await bench.ship()
  const release = await bench.shares(10)
  const { signal } = new AbortController()
  const seen = await engine.observe(service, signal)
  const names = seen.state === 'absent' ? [] : seen.replicas.filter((one) => one.release === release)
  const attempt = { signal, output: { line: () => {} } }
  await engine.endReplicas(
    service,
    names.map(({ name }) => name),
    attempt,
  )
  const { state, reason } = await bench.ends()
  assert.deepEqual([state, await bench.running()], ['DEPLOYMENT_ERROR', [former]])
  assert.match(reason ?? '', /no replica of the new version runs any more/)
})

test('replicas of the previous version that end leave the route, and a person promotes the new one', async (t) => {
  const bench = await openBench(t)
  const { a, engine, service } = bench
  await bench.plan('10', 600)
  await bench.ship()
  const release = await bench.shares(10)
  const { signal } = new AbortController()
  await engine.retire(service, release, { signal, output: { line: () => {} } })
  await until('it has no endpoint', () => bench.route()?.endpoints.length === 0)
  assert.equal(bench.route()?.canary?.release, release)
  assert.equal((await bench.call(a.tokens.DEPLOY, 'POST', `/service/${service}/canary/promote`)).status, 202)
  assert.deepEqual(await bench.ends(), { state: 'DEPLOYED', reason: null })
  assert.equal(bench.route()?.replicas?.release, release)
})

test('a change of steps needs no deployment', async (t) => {
  const bench = await openBench(t)
  await bench.plan('10', 600)
  const { body } = await bench.call(bench.a.tokens.READ, 'GET', `/application/${bench.service}/status`)
  assert.equal(Object(body).service_deployment_status, 'UP_TO_DATE')
})

test('steps are left out with the reason for a rollback and without a public HTTP port', async (t) => {
  const bench = await openBench(t)
  const { a, call, database, service } = bench
  await bench.plan('10', 1)
  for (const _ of ['second', 'third']) {
    await bench.ship()
    assert.equal((await bench.ends()).state, 'DEPLOYED')
  }
  const [, second] = await database<{ execution_id: string }[]>`
    select r.execution_id from deployment_request r join release l on l.request_id = r.id
    where l.service_id = ${service} order by l.created_at`
  const body = { execution_id: second?.execution_id }
  assert.equal((await call(a.tokens.DEPLOY, 'POST', `/application/${service}/rollback`, body)).status, 202)
  assert.equal((await bench.ends()).state, 'DEPLOYED')
  assert.match(await bench.lines(), /Canary steps are left out: a rollback gets all requests at once\./)
  const ports = [{ internal_port: 8080, publicly_accessible: false, protocol: 'HTTP' }]
  assert.equal((await call(a.tokens.ADMIN, 'PUT', `/application/${service}`, { ports, healthchecks: {} })).status, 200)
  await bench.plan('10', 600)
  await bench.ship()
  assert.equal((await bench.ends()).state, 'DEPLOYED')
  assert.match(await bench.lines(), /Canary steps are left out: it has no public HTTP port\./)
})
