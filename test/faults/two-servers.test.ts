import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cutDatabase } from '../../server/database/testing-proxy.ts'
import { armFailpoints, failpoints } from '../../server/lib/failpoint.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/**
 * Two servers on one database and one engine: one stands still in the middle of a deployment, the
 * other takes over, the first goes on.
 */
const platform = await createPlatform({ after })
const { a, builder, call, database, engine, router } = platform
const { applicationId: service, environmentId: environment } = a.objects

/** Lets nothing through while it is shut; what was asked meanwhile is done when it opens. */
function createGate() {
  let shut: PromiseWithResolvers<void> | undefined
  return {
    shut: () => {
      shut = Promise.withResolvers()
    },
    open: () => shut?.resolve(),
    /**
     * The same driver, for a server that may stand still: `names` are the calls that change
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

test('a first version is there', async () => {
  const first = await platform.another()
  first.workflows.start()
  await ship('first')
  await until('it is deployed', isEnded)
  await first.stop()
  assert.deepEqual([(await lastRequest()).status, engine.effects.created], ['SUCCESS', 1])
})

/** Only what the holder of a lease passes. */
const points = failpoints.filter((point) => !['request.committed', 'webhook.sent'].includes(point))
for (const point of points) {
  test(`a server that stands still at ${point} and goes on after another has taken over changes nothing`, async (t) => {
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
      // Instead of the whole process, this server alone: neither the database nor the drivers hear
      // of it any more.
      way.silence()
      gate.shut()
      isAsleep = true
      return true
    })
    const before = { ...engine.effects, built: builder.built.length }
    armFailpoints(`${point}:stop`)
    sleeper.workflows.start()
    await ship(point)
    await until(`it stands still at ${point}`, () => isAsleep)
    await database`update workflow set lease_until = now() - interval '1 second' where state = 'running'`
    other.workflows.start()
    await until('the other one has ended the deployment', isEnded)
    const seen = async () => [await platform.fingerprint(), await running(), { ...engine.effects }, router.routes]
    const ended = await seen()
    const { id, status, fence } = await lastRequest()
    assert.deepEqual([status, fence], ['SUCCESS', '2'])

    gate.open()
    way.join()
    await until('the first one has given up', () => {
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
