import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'

/** Preparations of a stage while the services of the previous stage start. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform
const { start, pinImage, fetchImage, runTask } = engine
afterEach(() => {
  for (const name of ['start', 'pinImage', 'fetchImage', 'runTask']) Reflect.deleteProperty(engine, name)
})

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}

/** Creates an environment with one service in each of two stages. */
async function makeEnvironment(name: string, firstKind: 'container' | 'job') {
  const { id: environment } = await send('POST', `/project/${a.objects.projectId}/environment`, { name })
  const { results: stages } = await send('GET', `/environment/${environment}/deploymentStage`)
  const [registry] =
    await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`
  const add = async (stage: number, kind: 'container' | 'job') => {
    const image = { registry_id: registry?.['id'], image_name: `ahead/${name}-${stage}`, tag: '1' }
    const common = { name: `s${stage}`, healthchecks: {} }
    const body =
      kind === 'container'
        ? { ...common, ...image, ports: [] }
        : { ...common, auto_preview: false, source: { image }, schedule: { on_start: {} } }
    const { id } = await send('POST', `/environment/${environment}/${kind}`, body)
    await send('PUT', `/deploymentStage/${stages[stage].id}/service/${id}`)
    return { id: String(id), path: `/${kind}/${id}`, image: image.image_name }
  }
  return { environment, first: await add(0, firstKind), second: await add(1, 'container') }
}

/** Holds starts of the service until they are released. */
function hold(service: string) {
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  engine.start = async (release, attempt) => {
    if (release.service === service) {
      attempt.whenBegun?.()
      begun.resolve()
      await released.promise
    }
    return start.call(engine, release, attempt)
  }
  return { begun: begun.promise, release: () => released.resolve(), fail: released.reject }
}

const isFetched = (image: string) =>
  until(`${image} is fetched`, () => engine.images.fetched.some((reference) => reference.includes(image)))

const stateOf = async (path: string): Promise<unknown> => (await send('GET', `${path}/status`)).state
const statusOf = async (environment: string) => {
  await until('the environment is settled', async () => {
    const open = await database`
      select from deployment_request where environment_id = ${environment} and finished_at is null`
    return open.length === 0
  })
  const rows = await database<{ status: string }[]>`
    select t.status from deployment_target t join deployment_request r on r.id = t.request_id
    where r.environment_id = ${environment} order by t.stage_order`
  return rows.map(({ status }) => status)
}

test('the image of the next stage is fetched while the previous stage starts, and its service waits', async () => {
  const { environment, first, second } = await makeEnvironment('fetched', 'container')
  const held = hold(first.id)
  await send('POST', `/environment/${environment}/deploy`)
  await held.begun
  await isFetched(second.image)
  assert.equal(await stateOf(first.path), 'DEPLOYING')
  assert.equal(await stateOf(second.path), 'DEPLOYMENT_QUEUED')
  held.release()
  assert.deepEqual(await statusOf(environment), ['SUCCESS', 'SUCCESS'])
})

test('fetching for a stage is cancelled at once when the stage is skipped', async () => {
  const { environment, first, second } = await makeEnvironment('given-up', 'container')
  const held = hold(first.id)
  const fetching = Promise.withResolvers<void>()
  engine.fetchImage = async (reference, login, attempt) => {
    if (!reference.includes('given-up-1')) return fetchImage.call(engine, reference, login, attempt)
    fetching.resolve()
    await new Promise((_, reject) => attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason)))
  }
  await send('POST', `/environment/${environment}/deploy`)
  await fetching.promise
  held.fail(new EngineError('refused', 'it is told to fail'))
  assert.deepEqual(await statusOf(environment), ['ERROR', 'SKIPPED'])
  assert.equal(await stateOf(second.path), 'READY')
})

test('a service becomes DEPLOYING at its turn although its image is still being fetched', async () => {
  const { environment, first, second } = await makeEnvironment('late', 'container')
  const held = hold(first.id)
  const [fetching, there] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  engine.fetchImage = async (reference, login, attempt) => {
    if (reference.includes('late-1')) {
      fetching.resolve()
      await there.promise
    }
    return fetchImage.call(engine, reference, login, attempt)
  }
  await send('POST', `/environment/${environment}/deploy`)
  await fetching.promise
  held.release()
  await until('the second one is being deployed', async () => (await stateOf(second.path)) === 'DEPLOYING')
  there.resolve()
  assert.deepEqual(await statusOf(environment), ['SUCCESS', 'SUCCESS'])
})

test('a missing image is reported in its own stage', async () => {
  const { environment, second } = await makeEnvironment('missing', 'container')
  engine.pinImage = async (image, login, attempt) => {
    if (image.includes(second.image)) throw new EngineError('image-missing', 'there is none of that name')
    return pinImage.call(engine, image, login, attempt)
  }
  await send('POST', `/environment/${environment}/deploy`)
  assert.deepEqual(await statusOf(environment), ['SUCCESS', 'ERROR'])
})

test('nothing is frozen before a job has ended, because later stages use its outputs', async () => {
  const { environment, first } = await makeEnvironment('job', 'job')
  const [running, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  engine.runTask = async (...given) => {
    running.resolve()
    await released.promise
    return runTask.apply(engine, given)
  }
  await send('POST', `/environment/${environment}/deploy`)
  await running.promise
  assert.equal(await stateOf(first.path), 'EXECUTING')
  const frozen = await database`
    select from workflow_step s join deployment_request r on r.id = s.workflow_id
    where r.environment_id = ${environment} and s.name like '%/FREEZE'`
  assert.equal(frozen.length, 1)
  released.resolve()
  assert.deepEqual(await statusOf(environment), ['SUCCESS', 'SUCCESS'])
})
