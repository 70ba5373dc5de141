import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addTenant, type Tenant } from '../../test/support/fixture.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { createFakeBuilder } from '../builders/index.ts'
import { FakeEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { createFakeRouter } from '../routers/index.ts'

// Three clusters in one server, each with its own engine. The third also has its own builder and
// router.

/** An engine that answers no call while `hangs` is set, until the caller cancels. */
function hanging(inner: FakeEngine) {
  const state = { hangs: false, waiting: 0 }
  const signalOf = (given: unknown): AbortSignal | undefined =>
    given instanceof AbortSignal ? given : (Object(given).signal as AbortSignal | undefined)
  const engine = new Proxy(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...given: unknown[]) => {
        if (!state.hangs || name === 'logs') return member.apply(target, given)
        state.waiting++
        const signal = signalOf(given.at(-1))
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
      }
    },
  })
  return { engine, state }
}

const [inner, third] = [new FakeEngine({ clock }), new FakeEngine({ clock })]
const second = hanging(inner)
const [thirdBuilder, thirdRouter] = [createFakeBuilder(), createFakeRouter()]
const platform = await createPlatform(
  { after },
  {
    works: true,
    settings: { QUAYSIDE_PARALLEL_DEPLOYMENTS: '1' },
    engines: [
      { name: 'second', engine: second.engine },
      { name: 'third', engine: third },
    ],
    builders: [{ name: 'third', builder: thirdBuilder }],
    routers: [{ name: 'third', router: thirdRouter }],
  },
)
const { call, database } = platform

/** One application of a tenant whose cluster has this engine. */
async function applicationOf(tenant: Tenant, engine: string) {
  await database`update cluster set engine = ${engine} where id = ${tenant.clusterId}`
  const { applicationId: id } = await platform.addObjects(tenant)
  const send = async (method: string, path: string): Promise<void> => {
    const answer = await call(tenant.tokens.ADMIN, method, path, method === 'POST' ? {} : undefined)
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  }
  return {
    id,
    ship: async (change: string) => {
      await platform.addRepository(tenant, change)
      await send('POST', `/application/${id}/deploy`)
    },
    stop: () => send('POST', `/application/${id}/stop`),
    remove: () => send('DELETE', `/application/${id}`),
    status: async (): Promise<string> => {
      const answer = await call(tenant.tokens.READ, 'GET', `/application/${id}/status`)
      assert.equal(answer.status, 200, answer.text)
      return String(Object(answer.body).state)
    },
  }
}

type Application = Awaited<ReturnType<typeof applicationOf>>

const { signal } = new AbortController()
const runningOn = async (engine: FakeEngine, ids: readonly string[]): Promise<string[]> =>
  [...(await engine.observeAll(signal)).keys()].filter((id) => ids.includes(id))
const servicesBuiltBy = ({ recipes }: Pick<ReturnType<typeof createFakeBuilder>, 'recipes'>): Set<string> =>
  new Set(recipes.map(({ service }) => service))
/** Returns the services to which a router has an endpoint. */
const reachedThrough = ({ routes }: Pick<typeof thirdRouter, 'routes'>, ids: readonly string[]): Set<string> =>
  new Set(routes.flatMap(({ service, endpoints }) => (endpoints.length > 0 && ids.includes(service) ? service : [])))
const becomes = (application: Application, state: string) =>
  until(`the application is ${state}`, async () => (await application.status()) === state)

test('each cluster deploys, repairs, stops and deletes on its own engine, even if another one hangs', async () => {
  const tenantC = await addTenant(database, platform, 'C')
  const onFirst = await applicationOf(platform.a, 'local')
  const onSecond = await applicationOf(platform.b, 'second')
  const onThird = await applicationOf(tenantC, 'third')
  const all = [onFirst, onSecond, onThird]
  const ids = all.map(({ id }) => id)

  for (const one of all) await one.ship('first')
  for (const one of all) await becomes(one, 'RUNNING')
  assert.deepEqual(await runningOn(platform.engine, ids), [onFirst.id])
  assert.deepEqual(await runningOn(inner, ids), [onSecond.id])
  assert.deepEqual(await runningOn(third, ids), [onThird.id])

  assert.deepEqual(servicesBuiltBy(platform.builder), new Set([onFirst.id, onSecond.id]))
  assert.deepEqual(servicesBuiltBy(thirdBuilder), new Set([onThird.id]))
  assert.deepEqual(reachedThrough(platform.router, ids), new Set([onFirst.id, onSecond.id]))
  assert.deepEqual(reachedThrough(thirdRouter, ids), new Set([onThird.id]))

  second.state.hangs = true
  const before = second.state.waiting
  await onSecond.ship('second')
  await until('the deployment on the second waits for its engine', () => second.state.waiting > before + 1)
  for (const [one, engine] of [
    [onFirst, platform.engine],
    [onThird, third],
  ] as const) {
    const created = engine.effects.created
    await one.ship('second')
    await until('a new version is made', () => engine.effects.created > created)
    await becomes(one, 'RUNNING')
    const seen = await engine.observe(one.id, signal)
    assert.ok(seen.state === 'running')
    const dropped = seen.replicas.map(({ name }) => name)
    for (const name of dropped) engine.drop(name)
    await until(
      'a removed replica is brought back',
      async () => (await engine.observe(one.id, signal)).state === 'running',
    )
  }
  assert.notEqual(await onSecond.status(), 'RUNNING')
  await onFirst.stop()
  await becomes(onFirst, 'STOPPED')
  assert.deepEqual(await runningOn(platform.engine, ids), [])
  await onThird.remove()
  await until('it is gone', async () => (await runningOn(third, ids)).length === 0)

  second.state.hangs = false
  assert.deepEqual(await runningOn(inner, ids), [onSecond.id])
})

test('a deployment to a cluster whose engine this installation lacks is rejected', async () => {
  const { tokens, clusterId } = platform.b
  await database`update cluster set engine = 'elsewhere' where id = ${clusterId}`
  const answer = await call(tokens.ADMIN, 'POST', `/application/${platform.b.objects.applicationId}/deploy`, {})
  assert.equal(answer.status, 400)
  assert.match(answer.text, /needs the engine \\"elsewhere\\", which this installation does not have/)
})

test('a router that cannot be reached delays no deployment of a cluster with another router', async () => {
  const tenants = [await addTenant(database, platform, 'D'), await addTenant(database, platform, 'E')] as const
  const [away, here] = [await applicationOf(tenants[0], 'third'), await applicationOf(tenants[1], 'local')]
  thirdRouter.failWith(new AppError('unavailable', 'The router cannot be reached.'))
  await away.ship('waits')
  await until('its replica runs', async () => (await runningOn(third, [away.id])).length === 1)
  await here.ship('goes on')
  await becomes(here, 'RUNNING')
  assert.notEqual(await away.status(), 'RUNNING')
  thirdRouter.failWith(undefined)
  await becomes(away, 'RUNNING')
  assert.deepEqual(reachedThrough(thirdRouter, [away.id, here.id]), new Set([away.id]))
})

test('limits of services and records of clusters are those of the engine of the cluster', async () => {
  const tenants = [await addTenant(database, platform, 'F'), await addTenant(database, platform, 'G')] as const
  const [away, here] = [await applicationOf(tenants[0], 'third'), await applicationOf(tenants[1], 'local')]
  const former = third.capacity
  third.capacity = { cpuMilli: 500, memoryMiB: 256, architecture: former.architecture }
  const edit = (at: Tenant, { id }: Application, change: object) =>
    call(at.tokens.ADMIN, 'PUT', `/application/${id}`, change)
  const refused = await edit(tenants[0], away, { cpu: 501 })
  assert.equal(refused.status, 400)
  assert.match(refused.text, /cpu must be ≤ 500, the capacity of the cluster/)
  const accepted = await edit(tenants[0], away, { cpu: 500, memory: 256 })
  assert.deepEqual([accepted.status, Object(accepted.body).maximum_cpu], [200, 500])
  assert.equal((await edit(tenants[1], here, { cpu: 501 })).status, 200)
  const path = `/organization/${tenants[0].organizationId}/cluster`
  const [cluster] = Object((await call(tenants[0].tokens.READ, 'GET', path)).body).results
  assert.deepEqual([cluster.cpu, cluster.memory], [500, 256])
  third.capacity = former
})

test('an update of a cluster renews the router of that cluster', async () => {
  const tenant = await addTenant(database, platform, 'H')
  await applicationOf(tenant, 'third')
  const before = [thirdRouter.renewals, platform.router.renewals]
  const path = `/organization/${tenant.organizationId}/cluster/${tenant.clusterId}`
  const answer = await call(tenant.tokens.ADMIN, 'POST', `${path}/deploy`, {})
  assert.ok(answer.status < 300, answer.text)
  await until('the router is renewed', () => thirdRouter.renewals > (before[0] ?? 0))
  assert.equal(platform.router.renewals, before[1])
})
