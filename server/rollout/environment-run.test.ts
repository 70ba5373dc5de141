import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { EngineError } from '../engines/index.ts'

/** Deployments of whole environments, stage by stage, on an engine with planned failures. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database, engine } = platform

/** A repeatable random generator. */
function chance(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

interface Member {
  readonly id: string
  readonly stage: number
  readonly isSkipped: boolean
  readonly fails: boolean
}

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}

/** Creates an environment of containers in stages. The engine rejects those with `fails`. */
async function makeEnvironment(name: string, plan: readonly Omit<Member, 'id'>[]) {
  const { id: environment } = await send('POST', `/project/${a.objects.projectId}/environment`, { name })
  const { results: stages } = await send('GET', `/environment/${environment}/deploymentStage`)
  const [registry] =
    await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`
  const members: Member[] = []
  for (const [index, { stage, isSkipped, fails }] of plan.entries()) {
    const body = { name: `s${index}`, registry_id: registry?.['id'], image_name: `run/${name}-${index}`, tag: '1' }
    const { id } = await send('POST', `/environment/${environment}/container`, { ...body, ports: [], healthchecks: {} })
    await send('PUT', `/deploymentStage/${stages[stage].id}/service/${id}`, { is_skipped: isSkipped })
    members.push({ id, stage, isSkipped, fails })
  }
  return { environment, members }
}

const atRest = (environment: string) =>
  until('the environment is settled', async () => {
    const [open] = await database`
      select from deployment_request where environment_id = ${environment} and finished_at is null`
    return open === undefined
  })

/** Records the order in which services start, and rejects some of them. */
function watch(members: readonly Member[]): { readonly begun: string[]; readonly ended: string[]; close(): void } {
  const begun: string[] = []
  const ended: string[] = []
  const { start } = engine
  engine.start = async (release, attempt) => {
    begun.push(release.service)
    if (members.some(({ id, fails }) => id === release.service && fails))
      throw new EngineError('refused', 'it is told to fail')
    const endpoints = await start.call(engine, release, attempt)
    ended.push(release.service)
    return endpoints
  }
  return { begun, ended, close: () => void Reflect.deleteProperty(engine, 'start') }
}

for (const seed of [1, 2, 3, 4]) {
  test(`stages run one after another and stop at the first error (${seed})`, async () => {
    const next = chance(seed * 7919)
    const plan = Array.from({ length: 7 }, () => ({ stage: next(4), isSkipped: next(5) === 0, fails: next(6) === 0 }))
    const { environment, members } = await makeEnvironment(`chance-${seed}`, plan)
    const taking = members.filter(({ isSkipped }) => !isSkipped)
    const failing = taking.filter(({ fails }) => fails).map(({ stage }) => stage)
    const last = Math.min(...failing, 9)
    const seen = watch(members)
    await send('POST', `/environment/${environment}/deploy`)
    await atRest(environment)
    seen.close()
    const stageOf = new Map(members.map(({ id, stage }) => [id, stage]))
    const order = seen.begun.map((id) => stageOf.get(id) ?? -1)
    assert.deepEqual(
      order,
      order.toSorted((x, y) => x - y),
    )
    assert.deepEqual(new Set(seen.begun), new Set(taking.filter(({ stage }) => stage <= last).map(({ id }) => id)))
    const rows = await database<{ service_id: string; status: string; state: string; started: boolean }[]>`
      select t.service_id, t.status, t.state, t.started_at is not null as started from deployment_target t
      join deployment_request r on r.id = t.request_id where r.environment_id = ${environment}`
    assert.deepEqual(new Set(rows.map((row) => row.service_id)), new Set(taking.map(({ id }) => id)))
    for (const { id, stage, fails } of taking) {
      const row = rows.find(({ service_id }) => service_id === id)
      const expected =
        stage > last
          ? ['SKIPPED', 'READY', false]
          : fails
            ? ['ERROR', 'DEPLOYMENT_ERROR', true]
            : ['SUCCESS', 'DEPLOYED', true]
      assert.deepEqual([row?.status, row?.state, row?.started], expected)
    }
    const { stages } = await send('GET', `/environment/${environment}/statusesWithStages`)
    const told = stages.map(({ stage }: { stage: { status?: string } }) => stage.status ?? 'none')
    const expectedOf = (stage: number): string => {
      if (!taking.some((member) => member.stage === stage)) return 'none'
      if (stage > last) return 'SKIPPED'
      return stage === last ? 'ERROR' : 'DONE'
    }
    assert.deepEqual(told, [0, 1, 2, 3].map(expectedOf))
    const [entry] = (await send('GET', `/environment/${environment}/deploymentHistoryV2`)).results
    const succeeded = failing.length === 0
    assert.deepEqual([entry.action_status, entry.trigger_action], [succeeded ? 'SUCCESS' : 'ERROR', 'DEPLOY'])
    assert.deepEqual(
      entry.stages.map(({ status }: { status: string }) => status),
      told.filter((status: string) => status !== 'none'),
    )
  })
}

test('a cancel keeps running services, rolls back those in progress and starts no others', async () => {
  const plan = [0, 1, 2].map((stage) => ({ stage, isSkipped: false, fails: false }))
  const { environment, members } = await makeEnvironment('cancelled', plan)
  const [first, second, third] = members
  const hangs = Promise.withResolvers<void>()
  const { start } = engine
  engine.start = async (release, attempt) => {
    if (release.service !== second?.id) return start.call(engine, release, attempt)
    hangs.resolve()
    await new Promise((_, reject) => attempt.signal.addEventListener('abort', () => reject(attempt.signal.reason)))
    throw new Error('unreachable')
  }
  await send('POST', `/environment/${environment}/deploy`)
  await hangs.promise
  const during = await send('GET', `/environment/${environment}/statusesWithStages`)
  const words = (stages: { stage: { status?: string } }[]) => stages.flatMap(({ stage }) => stage.status ?? [])
  assert.deepEqual(words(during.stages), ['DONE', 'ONGOING', 'QUEUED'])
  assert.equal(during.stages[2].containers[0].state, 'DEPLOYMENT_QUEUED')
  await send('POST', `/environment/${environment}/cancelDeployment`)
  await atRest(environment)
  Reflect.deleteProperty(engine, 'start')
  const after = await send('GET', `/environment/${environment}/statusesWithStages`)
  assert.deepEqual(words(after.stages), ['DONE', 'CANCELED', 'CANCELED'])
  const states = await database<{ id: string; state: string; release_id: string | null }[]>`
    select id, state, release_id from service where environment_id = ${environment} order by created_at`
  assert.deepEqual(
    [first, second, third].map((member) => states.find(({ id }) => id === member?.id)?.state),
    ['DEPLOYED', 'CANCELED', 'CANCELED'],
  )
  const [done] = after.stages
  assert.deepEqual(
    done.stage.steps.details.map(
      ({ step_name, status }: { step_name: string; status: string }) => `${step_name} ${status}`,
    ),
    ['QUEUEING SUCCESS', 'PROVISION_BUILDER SKIP', 'TOTAL SUCCESS'],
  )
})

test('a waiting request leaves the service to the running one when it is cancelled', async () => {
  const { environment, members } = await makeEnvironment('waiting', [{ stage: 0, isSkipped: false, fails: false }])
  const id = members[0]?.id ?? ''
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const { start } = engine
  engine.start = async (release, attempt) => {
    begun.resolve()
    await released.promise
    return start.call(engine, release, attempt)
  }
  await send('POST', `/container/${id}/deploy`, {})
  await begun.promise
  const stop = await send('POST', `/container/${id}/stop`)
  await send('POST', `/deploymentQueue/${stop.id}/cancelDeployment`)
  assert.equal((await send('GET', `/container/${id}/status`)).state, 'DEPLOYING')
  released.resolve()
  await atRest(environment)
  Reflect.deleteProperty(engine, 'start')
  assert.equal((await send('GET', `/container/${id}/status`)).state, 'DEPLOYED')
})

test('each service of a run reports each of its states once, however many services there are', async () => {
  const told = async (name: string, count: number) => {
    const plan = Array.from({ length: count }, (_, index) => ({ stage: index % 4, isSkipped: false, fails: false }))
    const { environment, members } = await makeEnvironment(name, plan)
    await send('POST', `/environment/${environment}/deploy`)
    await atRest(environment)
    const rows = await database<{ service: string; state: string }[]>`
      select data->>'service_id' as service, data->>'state' as state from state_change
      where type = 'service.state' and data->>'environment_id' = ${environment} order by id`
    const requests = await database`
      select from state_change where type = 'deployment.status' and data->>'environment_id' = ${environment}`
    return { members, requests: requests.length, states: Map.groupBy(rows, ({ service }) => service) }
  }
  for (const [name, count] of [
    ['few', 4],
    ['many', 20],
  ] as const) {
    const { members, requests, states } = await told(name, count)
    assert.equal(requests, 3)
    for (const { id } of members) {
      const own = states.get(id)?.map(({ state }) => state)
      assert.deepEqual(own, ['DEPLOYMENT_QUEUED', 'DEPLOYING', 'DEPLOYED'])
    }
  }
})

test('the log of a deployment names the stage of each line, by any name of the deployment', async () => {
  const { environment, members } = await makeEnvironment(
    'explained',
    [0, 2].map((stage) => ({ stage, isSkipped: false, fails: false })),
  )
  await send('POST', `/environment/${environment}/deploy`)
  await atRest(environment)
  const { results: stages } = await send('GET', `/environment/${environment}/deploymentStage`)
  const [{ id: request }] = (await send('GET', `/environment/${environment}/deploymentHistory`)).results
  const { last_deployment_id: execution } = await send('GET', `/environment/${environment}/status`)
  const read = async (query: string) =>
    JSON.parse((await call(a.tokens.READ, 'GET', `/environment/${environment}/logs${query}`)).text)
  const lines = await read('')
  for (const { id, stage } of members) {
    const own = lines.filter((line: { details: { transmitter: { id: string } } }) => line.details.transmitter.id === id)
    assert.ok(own.length > 0)
    for (const { details } of own)
      assert.deepEqual([details.stage.id, details.stage.name], [stages[stage].id, stages[stage].name])
  }
  assert.deepEqual(await read(`?version=${execution}`), lines)
  assert.deepEqual(await read(`?version=${request}`), lines)
  assert.deepEqual(await read(`?version=${request.toUpperCase()}`), lines)
  assert.deepEqual(await read(`?version=${environment}`), [])
})
