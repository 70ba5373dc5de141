import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cutDatabase } from '../../server/database/testing-proxy.ts'
import { armFailpoints, failpoints } from '../../server/lib/failpoint.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/**
 * Two servers share a database and an engine. One is suspended during a deployment, the other takes
 * over, and the first resumes.
 */
const platform = await createPlatform({ after })
const { a, builder, call, database, engine, router } = platform
const { applicationId: service, environmentId: environment } = a.objects

/** A gate that holds calls while it is shut. They run when it opens. */
function createGate() {
  let shut: PromiseWithResolvers<void> | undefined
  return {
    shut: () => {
      shut = Promise.withResolvers()
    },
    open: () => shut?.resolve(),
    /**
     * Wraps a driver for a server that may be suspended. `names` are the calls that change
     * something.
     */
    before: <T extends object>(driver: T, names: readonly (keyof T)[]): T =>
      new Proxy(driver, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          const act = (...args: unknown[]): unknown => Reflect.apply(value, target, args)
          if (!names.some((one) => one === name)) return act
          return async (...args: unknown[]) => {
            await shut?.promise
            return act(...args)
          }
        },
      }),
  }
}

async function ship(change: string): Promise<void> {
  await platform.addRepository(a, change)
  const answer = await call(a.tokens.DEPLOY, 'POST', `/application/${service}/deploy`, {})
  assert.equal(answer.status, 202, answer.text)
}
const lastRequest = async () => {
  const [row] = await database<{ id: string; status: string; finished: boolean; fence: string }[]>`
    select r.id, r.status, r.finished_at is not null as finished, w.fence::text as fence
    from deployment_request r join workflow w using (id) where r.environment_id = ${environment} order by r.seq desc
    limit 1`
  assert.ok(row)
  return row
}
const isEnded = async (): Promise<boolean> => {
  const [row] = await database`select state from workflow order by seq desc limit 1`
  return row?.['state'] === 'done' && (await lastRequest()).finished
}
const running = async (): Promise<string[]> => {
  const seen = await engine.observe(service, new AbortController().signal)
  return seen.state === 'absent' ? [] : seen.replicas.map(({ release }) => release)
}

test('a first version is deployed', async () => {
  const first = await platform.another()
  first.workflows.start()
  await ship('first')
  await until('the first version is deployed', isEnded)
  await first.stop()
  assert.deepEqual([(await lastRequest()).status, engine.effects.created], ['SUCCESS', 1])
})

/** The points that only the holder of a lease reaches. */
const points = failpoints.filter((point) => !['request.committed', 'webhook.sent'].includes(point))
for (const point of points) {
  test(`a server that is suspended at ${point} and resumes after another took over changes nothing`, async (t) => {
    const gate = createGate()
    const way = await cutDatabase(t, platform.databaseUrl)
    const drivers = {
      engines: [
        {
          name: 'local',
          engine: gate.before(engine, [
            'start',
            'retire',
            'endReplicas',
            'erase',
            'prepareEnvironment',
            'eraseEnvironment',
          ]),
        },
      ],
      builders: [{ name: 'local', builder: gate.before(builder, ['build']) }],
      routers: [{ name: 'local', router: gate.before(router, ['replaceAll', 'drained']) }],
    }
    const [sleeper, other] = [await platform.another({ drivers, way }), await platform.another()]
    t.after(() => {
      armFailpoints(undefined)
      gate.open()
      way.join()
      return Promise.all([sleeper.stop(), other.stop()]).then(() => {})
    })
    let isAsleep = false
    const { kill } = process
    t.mock.method(process, 'kill', (pid: number, signal?: string | number) => {
      if (pid !== process.pid || signal !== 'SIGSTOP') return kill.call(process, pid, signal)
      // Suspends this server instead of the whole process. Its database and drivers no longer
      // receive its calls.
      way.silence()
      gate.shut()
      isAsleep = true
      return true
    })
    const before = { ...engine.effects, built: builder.built.length }
    armFailpoints(`${point}:stop`)
    sleeper.workflows.start()
    await ship(point)
    await until(`the server is suspended at ${point}`, () => isAsleep)
    await database`update workflow set lease_until = now() - interval '1 second' where state = 'running'`
    other.workflows.start()
    await until('the other server has completed the deployment', isEnded)
    const seen = async () => [await platform.fingerprint(), await running(), { ...engine.effects }, router.routes]
    const ended = await seen()
    const { id, status, fence } = await lastRequest()
    assert.deepEqual([status, fence], ['SUCCESS', '2'])

    gate.open()
    way.join()
    await until('the first server has stopped its work', () => {
      const { claimed, running: left } = sleeper.workflows.counts()
      return claimed === 1 && left === 0
    })
    assert.equal(sleeper.workflows.counts().done, 0)
    assert.deepEqual(await seen(), ended)
    const { created, removed } = engine.effects
    assert.deepEqual([created - before.created, removed - before.removed], [1, 1])
    const [route] = await database`select release_id from route where service_id = ${service}`
    assert.deepEqual(await running(), [route?.['release_id']])
    assert.equal(builder.built.length - before.built, 1)
    const told = await database`select type from event where payload_id = ${id} order by seq`
    assert.deepEqual(
      told.map(({ type }) => type),
      ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL'],
    )
  })
}
