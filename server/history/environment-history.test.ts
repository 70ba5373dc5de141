import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { statusesOfExecution } from './by-stages.ts'

const platform = await createPlatform({ after }, { works: true })
const { a, b, call } = platform
await platform.addRepository(a)
const { environmentId, applicationId } = a.objects

const get = async (path: string) => {
  const answer = await call(a.tokens.READ, 'GET', path)
  assert.equal(answer.status, 200, answer.text)
  return Object(answer.body)
}
async function run(action: string): Promise<string> {
  const answer = await call(
    a.tokens.DEPLOY,
    'POST',
    `/application/${applicationId}/${action}`,
    action === 'deploy' ? {} : undefined,
  )
  assert.equal(answer.status, 202, answer.text)
  const { id } = Object(answer.body)
  await until(`${action} has ended`, async () => {
    const [row] = await platform.database`select finished_at from deployment_request where id = ${id}`
    return row?.['finished_at'] !== null
  })
  return id
}

const [deployed, stopped] = [await run('deploy'), await run('stop')]

for (const [noun, path, foreign] of [
  ['an environment', `/environment/${environmentId}`, `/environment/${b.objects.environmentId}`],
  ['a service', `/application/${applicationId}`, `/application/${b.objects.applicationId}`],
] as const) {
  test(`the history of ${noun} continues after a deployment of it`, () =>
    continues(`${path}/deploymentHistoryV2`, `${foreign}/deploymentHistoryV2`))
}

async function continues(path: string, foreign: string): Promise<void> {
  const execution = (one: { identifier: { execution_id: string } }) => one.identifier.execution_id
  const [newest, oldest] = (await get(path)).results.map(execution)
  for (const start of [newest, stopped]) {
    const { results } = await get(`${path}?startId=${start}`)
    assert.deepEqual(results.map(execution), [oldest])
  }
  assert.deepEqual((await get(`${path}?startId=${oldest}`)).results, [])
  for (const [token, wrong] of [
    [a.tokens.READ, `${path}?startId=nothing`],
    [b.tokens.READ, `${foreign}?startId=${newest}`],
  ] as const) {
    const answer = await call(token, 'GET', wrong)
    assert.equal(answer.status, 404, answer.text)
    assert.match(answer.text, /startId/)
  }
}

test('the history of an environment lists requests and stages, newest first', async () => {
  const { page, page_size, results } = await get(`/environment/${environmentId}/deploymentHistoryV2?pageSize=500`)
  assert.deepEqual([page, page_size, results.length], [1, 20, 2])
  const [stop, deploy] = results
  assert.deepEqual(
    [stop.trigger_action, stop.action_status, stop.status, deploy.trigger_action, deploy.status],
    ['STOP', 'SUCCESS', 'STOPPED', 'DEPLOY', 'DEPLOYED'],
  )
  const [stage] = deploy.stages
  assert.deepEqual([stage.name, stage.status, deploy.stages.length], ['DEFAULT APPLICATION', 'DONE', 1])
  assert.match(deploy.total_duration, /^PT/)
  assert.match(stage.duration, /^PT/)
  assert.equal(stage.services[0].identifier.service_id, applicationId)
  assert.equal((await get(`/environment/${environmentId}/deploymentHistoryV2?pageSize=1`)).results.length, 1)
})

test('the older format can start after a deployment', async () => {
  const path = `/environment/${environmentId}/deploymentHistory`
  const ids = ({ results }: { results: { id: string }[] }): string[] => results.map(({ id }) => id)
  const all = await get(path)
  assert.deepEqual(ids(all), [stopped, deployed])
  assert.equal(all.results[1].applications[0].commit.git_commit_id.length, 40)
  assert.deepEqual([all.results[1].containers, all.results[1].terraforms], [[], []])
  assert.deepEqual(ids(await get(`${path}?startId=${stopped}`)), [deployed])
  assert.deepEqual(ids(await get(`${path}?startId=${deployed}`)), [])
  const own = `/application/${applicationId}/deploymentHistory`
  assert.deepEqual(ids(await get(own)), [stopped, deployed])
  assert.deepEqual((await get(own)).results[0].status, 'SUCCESS')
  assert.deepEqual(ids(await get(`${own}?startId=${stopped}`)), [deployed])
  for (const wrong of [
    `/environment/${b.objects.environmentId}/deploymentHistory`,
    path.replace(environmentId, '0190ffff-ffff-7fff-bfff-ffffffffffff'),
  ])
    assert.equal((await call(a.tokens.READ, 'GET', wrong)).status, 404)
  const foreign = await call(
    b.tokens.READ,
    'GET',
    `/environment/${b.objects.environmentId}/deploymentHistory?startId=${deployed}`,
  )
  assert.equal(foreign.status, 404)
  assert.match(Object(foreign.body).message, /^startId/)
})

test('statuses are listed by stage with the effect of the last deployment', async () => {
  const { environment, stages } = await get(`/environment/${environmentId}/statusesWithStages`)
  assert.equal(environment.state, 'STOPPED')
  const stage = stages.find((one: { applications: unknown[] }) => one.applications.length > 0)
  assert.deepEqual(
    [stage.stage.name, stage.stage.status, stage.applications[0].state],
    ['DEFAULT APPLICATION', 'DONE', 'STOPPED'],
  )
  const other = stages.find((one: { containers: unknown[] }) => one.containers.length > 0)
  assert.equal(other.stage.status, undefined)
})

test('the statuses of an execution are unaffected by later ones', async () => {
  const { results } = await get(`/environment/${environmentId}/deploymentHistoryV2`)
  const [stop, deploy]: string[] = results.map(
    ({ identifier }: { identifier: { execution_id: string } }) => identifier.execution_id,
  )
  const stages = [...(await get(`/environment/${environmentId}/statusesWithStages`)).stages].map(({ stage }) => stage)
  const of = (version: string) => statusesOfExecution(platform.database, environmentId, stages, version)
  const summary = ({ environment, stages: told }: Awaited<ReturnType<typeof of>>) => {
    const [application] = told.flatMap(({ applications }) => applications)
    const parts = told.flatMap(({ applications, containers }) => [...applications, ...containers])
    return {
      environment: [environment.state, environment.last_deployment_id],
      application: [application?.state, application?.execution_id, application?.status_details.action],
      taking_part: parts.filter(({ is_part_last_deployment }) => is_part_last_deployment).map(({ id }) => id),
      stage: told.flatMap(({ stage }) => ('status' in stage ? [stage.name, stage.status] : [])),
    }
  }
  const common = { taking_part: [applicationId], stage: ['DEFAULT APPLICATION', 'DONE'] }
  assert.deepEqual(summary(await of(deploy ?? '')), {
    ...common,
    environment: ['DEPLOYED', deploy],
    application: ['DEPLOYED', deploy, 'DEPLOY'],
  })
  assert.deepEqual(summary(await of(stop ?? '')), {
    ...common,
    environment: ['STOPPED', stop],
    application: ['STOPPED', stop, 'STOP'],
  })
  await assert.rejects(of('nothing'), { code: 'invalid', message: /^version: .*nothing/ })
})

test('the older log reports the state of each line’s service', async () => {
  const { results } = await get(`/environment/${environmentId}/log`)
  assert.ok(results.length > 0)
  assert.equal(results[0].scope.id, applicationId)
  assert.equal(results[0].scope.type, 'APPLICATION')
  assert.ok(results.some(({ state }: { state: string }) => state === 'PAUSED'))
})

test('lists of a project and an organization include every environment and service', async () => {
  const { projectId } = a.objects
  const overview = (await get(`/project/${projectId}/environment/overview`)).results
  const entry = overview.find(({ id }: { id: string }) => id === environmentId)
  assert.equal(entry.deployment_status.last_deployment_state, 'STOPPED')
  const services = (await get(`/organization/${a.organizationId}/services?environment_id=${environmentId}`)).results
  assert.equal(services.length, entry.services_overview.service_count)
  assert.equal(services.find(({ service_type }: { service_type: string }) => service_type === 'JOB').job_type, 'CRON')
  const stats = (await get(`/project/${projectId}/environment/stats`)).results
  assert.equal(stats.find(({ id }: { id: string }) => id === environmentId).service_total_number, services.length)
  const foreign = (await get(`/organization/${a.organizationId}/services?project_id=${b.objects.projectId}`)).results
  assert.deepEqual(foreign, [])
})
