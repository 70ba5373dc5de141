import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform, type Platform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { BuildError } from '../builders/index.ts'
import type { Cleanup } from '../database/testing.ts'
import { EngineError } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import { StepTimeoutError } from '../workflows/index.ts'
import { toFailure } from './failure.ts'
import { explainLate } from './recipe.ts'

// Failures beside the version itself. They must neither cost traffic nor be reported as the
// version's fault.

interface Bench extends Platform {
  readonly service: string
  readonly environment: string
  /** Pushes a commit and requests its deployment. */
  ship(): Promise<void>
  cancel(): Promise<void>
  atRest(): Promise<void>
  state(service?: string): Promise<string>
  /** The release that the routes name. */
  routed(): Promise<string | null>
  /** The releases that have replicas. */
  running(): Promise<string[]>
}

async function openBench(t: Cleanup): Promise<Bench> {
  const platform = await createPlatform(t, { works: true })
  const { a, call, database, engine } = platform
  const { applicationId: service, environmentId: environment } = a.objects
  let changes = 0
  const bench: Bench = {
    ...platform,
    service,
    environment,
    ship: async () => {
      await platform.addRepository(a, `change ${++changes}`)
      await call(a.tokens.DEPLOY, 'POST', `/application/${service}/deploy`, {})
    },
    cancel: async () => void (await call(a.tokens.DEPLOY, 'POST', `/environment/${environment}/cancelDeployment`)),
    atRest: async () =>
      void (await until('nothing is in progress', async () => {
        const open = await database`
          select from deployment_request where environment_id = ${environment} and finished_at is null`
        return open.length === 0
      })),
    state: async (id = service) => {
      const [row] = await database<{ state: string }[]>`select state from service where id = ${id}`
      return row?.state ?? 'gone'
    },
    routed: async () => {
      const [row] = await database<{ release_id: string | null }[]>`
        select release_id from route where service_id = ${service}`
      return row?.release_id ?? null
    },
    running: async () => {
      const seen = await engine.observe(service, new AbortController().signal)
      return seen.state === 'absent' ? [] : [...new Set(seen.replicas.map(({ release }) => release))]
    },
  }
  await bench.ship()
  await bench.atRest()
  assert.equal(await bench.state(), 'DEPLOYED')
  return bench
}

test('a deployment that is cancelled while traffic moves restores the routes before it ends the new version', async (t) => {
  const bench = await openBench(t)
  const { engine, router } = bench
  const former = await bench.routed()
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const { replaceAll } = router
  Object.assign(router, {
    replaceAll: async (...[routes, signal]: Parameters<typeof replaceAll>) => {
      // Earlier calls pass: they would otherwise hold up the deployment's own call.
      if ((await bench.routed()) === former) return replaceAll(routes, signal)
      // The first aborted call, which is that of the cancelled deployment, opens the gate.
      signal.addEventListener('abort', () => gate.resolve(), { once: true })
      await gate.promise
      return replaceAll(routes, signal)
    },
  })
  const retire = engine.retire.bind(engine)
  const routedAtRetire: (string | null)[] = []
  engine.retire = async (...call) => {
    routedAtRetire.push(await bench.routed())
    return retire(...call)
  }
  await bench.ship()
  await until('traffic is being moved', async () => (await bench.routed()) !== former)
  await bench.cancel()
  await bench.atRest()
  assert.equal(await bench.state(), 'CANCELED')
  assert.deepEqual(routedAtRetire, [former])
  assert.deepEqual([await bench.routed(), ...(await bench.running())], [former, former])
})

test('a stop that has begun completes although it is cancelled', async (t) => {
  const bench = await openBench(t)
  const { router, service } = bench
  const gate = Promise.withResolvers<void>()
  const { drained } = router
  let isDraining = false
  Object.assign(router, {
    drained: async (...call: Parameters<typeof drained>) => {
      isDraining = true
      await gate.promise
      return drained(...call)
    },
  })
  await bench.call(bench.a.tokens.DEPLOY, 'POST', `/application/${service}/stop`)
  await until('open requests are waited for', () => isDraining)
  await bench.cancel()
  gate.resolve()
  await bench.atRest()
  assert.deepEqual([await bench.state(), await bench.running()], ['STOPPED', []])
})

test('a completed deployment does not fail when the previous version cannot be ended', async (t) => {
  const bench = await openBench(t)
  const { engine, database } = bench
  const retire = engine.retire.bind(engine)
  engine.retire = async () => {
    throw new EngineError('refused', 'the engine will not')
  }
  await bench.ship()
  await bench.atRest()
  assert.equal(await bench.state(), 'DEPLOYED')
  const [request] = await database`select status from deployment_request order by seq desc limit 1`
  assert.equal(request?.['status'], 'SUCCESS')
  const events = await database`select type from event order by seq desc limit 1`
  assert.equal(events[0]?.['type'], 'DEPLOYMENT_SUCCESSFUL')
  engine.retire = retire
  await until('the observer ends it', async () => (await bench.running()).length === 1)
})

test('a deployment waits while the router is unreachable', async (t) => {
  const bench = await openBench(t)
  const former = await bench.routed()
  bench.router.failWith(new AppError('unavailable', 'The router process cannot be reached.'))
  await bench.ship()
  await until('it says so', async () => {
    const { text } = await bench.call(bench.a.tokens.READ, 'GET', `/environment/${bench.environment}/logs`)
    return text.includes('The router cannot be reached')
  })
  assert.equal(await bench.state(), 'DEPLOYING')
  bench.router.failWith(undefined)
  await bench.atRest()
  assert.equal(await bench.state(), 'DEPLOYED')
  assert.notEqual(await bench.routed(), former)
})

test('a bug in the part of one service ends the request only after all other parts have ended', async (t) => {
  const bench = await openBench(t)
  const { a, builder, call, database, environment, service } = bench
  const git_repository = { url: 'http://localhost:3000/git/hello.git' }
  const body = { name: 'other', git_repository, docker_target_build_stage: 'other' }
  const { body: made } = await call(a.tokens.WRITE, 'POST', `/environment/${environment}/application`, body)
  const other = String(Object(made).id)
  // A build of its own, so no other image can be reused.
  await call(a.tokens.WRITE, 'PUT', `/application/${service}`, { docker_target_build_stage: 'own' })
  builder.tell(service, { type: 'fail', error: new TypeError('a bug') })
  builder.tell(other, { type: 'hang', lines: ['the build hangs'] })
  await bench.addRepository(a, 'with a bug')
  await call(a.tokens.DEPLOY, 'POST', `/environment/${environment}/deploy`)
  await until('one has failed and the other one builds', async () => {
    const { text } = await call(a.tokens.READ, 'GET', `/environment/${environment}/logs`)
    const failed = await database`select from workflow_step where name = ${`${service}/BUILD`} and status = 'ERROR'`
    return failed.length === 1 && text.includes('the build hangs')
  })
  const [running] = await database`select status from deployment_request order by seq desc limit 1`
  assert.equal(running?.['status'], 'ONGOING')
  await bench.cancel()
  await bench.atRest()
  assert.deepEqual([await bench.state(), await bench.state(other)], ['DEPLOYMENT_ERROR', 'CANCELED'])
  const [target] = await database`
    select reason from deployment_target where service_id = ${service} order by service_seq desc limit 1`
  assert.match(target?.['reason'], /could not continue.*a bug.*deploy again/)
})

test('the router forgets a deleted service at once', async (t) => {
  const bench = await openBench(t)
  const { a, call, router, service } = bench
  const isKnown = (): boolean => router.routes.some((route) => route.service === service)
  assert.ok(isKnown())
  await call(a.tokens.ADMIN, 'DELETE', `/application/${service}`)
  await until('it is forgotten', () => !isKnown())
})

test('a step that times out is reported in words for the user', async () => {
  const late = Promise.reject(new StepTimeoutError('step "0199/GIT_CLONE" did not end within 300 s'))
  const told = explainLate(late, () => new BuildError('timeout', 'The commit could not be fetched within 300 s.'))
  const error = await told.catch((thrown: unknown) => thrown)
  const reason = 'The commit could not be fetched within 300 s.'
  assert.deepEqual(toFailure(error, 'DEPLOYMENT_ERROR'), { state: 'BUILD_ERROR', reason, lastLines: [] })
  const other = new Error('as it was')
  await assert.rejects(
    explainLate(Promise.reject(other), () => new Error('explained')),
    other,
  )
})
