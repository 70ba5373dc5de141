import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { jobBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import type { TaskBehaviour } from '../engines/fake/fake-tasks.ts'
import { newId } from '../lib/id.ts'

/**
 * Deployments of jobs: what runs at which event, what its end means, and which outputs other
 * services get.
 */
const settings = { QUAYSIDE_PARALLEL_DEPLOYMENTS: '1', QUAYSIDE_PARALLEL_WORK: '2' }
const platform = await createPlatform({ after }, { works: true, settings })
const { a, call, engine, database } = platform
const commit = await platform.addRepository(a)

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  return { status: answer.status, body: Object(answer.body), text: answer.text }
}
const ends = (path: string) =>
  until(`${path} is at rest`, async () => {
    const { status, body } = await send('GET', `${path}/status`)
    if (status === 404) return { state: 'gone' }
    return body.deployment_request_id === null && body.status_details.status !== 'NEVER' ? body : undefined
  })
const run = (argument: string) => ({ arguments: [argument] })
const everyEvent = { on_start: run('start'), on_stop: run('stop'), on_delete: run('delete') }

/** Creates a job in an environment of its own. Its image behaves as given. */
async function newJob(schedule: object, behaviour: TaskBehaviour, change: object = {}) {
  const { environmentId, applicationId } = await platform.addObjects(a)
  const image = `jobs/${newId()}`
  const registry = await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`
  const body = {
    ...jobBody(`job-${newId()}`),
    source: { image: { image_name: image, tag: '1', registry_id: registry[0]?.['id'] } },
    schedule,
    ...change,
  }
  const made = await send('POST', `/environment/${environmentId}/job`, body)
  assert.equal(made.status, 201, made.text)
  const id: string = made.body.id
  const behave = async (next: TaskBehaviour) => {
    const found = await database`
      select image ->> 'reference' as image from release where service_id = ${id} order by created_at desc limit 1`
    const reference: string = found[0]?.['image'] ?? (await pinned())
    engine.behave(reference, { task: next })
  }
  const pinned = async (): Promise<string> => {
    const attempt = { signal: AbortSignal.timeout(60_000), output: { line: () => {} } }
    const host = await database`select url from container_registry where id = ${body.source.image.registry_id}`
    const name = `${String(host[0]?.['url']).replace(/^https:\/\//, '')}/${image}:1`
    return (await engine.pinImage(name, undefined, attempt)).reference
  }
  await behave(behaviour)
  return { id, path: `/job/${id}`, environmentId, applicationId, behave }
}
const runsOf = async (id: string) => (await send('GET', `/job/${id}/run`)).body.results

test('a lifecycle job is deployed when its start command has succeeded', async () => {
  const { id, path, environmentId } = await newJob({ on_start: run('start') }, { runsMs: 300, lines: ['made it'] })
  assert.equal((await send('POST', `${path}/deploy`, {})).status, 202)
  await until('it is executing', async () => (await send('GET', `${path}/status`)).body.state === 'EXECUTING')
  const whole = await send('GET', `/environment/${environmentId}/status`)
  assert.equal(whole.body.state, 'DEPLOYING')
  const status = await ends(path)
  assert.deepEqual([status.state, status.reason, status.service_deployment_status], ['DEPLOYED', null, 'UP_TO_DATE'])
  assert.ok(status.steps.details.some((step: { step_name: string }) => step.step_name === 'EXECUTING'))
  const [only, ...others] = await runsOf(id)
  assert.equal(others.length, 0)
  assert.deepEqual(
    [only.trigger, only.event, only.status, only.exit_code, only.tries],
    ['DEPLOYMENT', 'START', 'SUCCESS', 0, 1],
  )
})

test('a failing job ends in an error with its last lines after all its tries, and its run can be cleaned', async () => {
  const { id, path, environmentId } = await newJob(
    { on_start: run('start') },
    { exitCode: 4, lines: ['no such table'] },
    { max_nb_restart: 1 },
  )
  await send('POST', `${path}/deploy`, {})
  const status = await ends(path)
  assert.equal(status.state, 'DEPLOYMENT_ERROR')
  assert.match(status.reason, /It ended with exit code 4\.\nno such table/)
  const [only] = await runsOf(id)
  assert.deepEqual([only.status, only.exit_code, only.tries], ['ERROR', 4, 2])
  assert.match(only.reason, /exit code 4/)
  const clean = async (body: object) => (await send('POST', `/environment/${environmentId}/cleanFailedJobs`, body)).body
  assert.deepEqual(await clean({}), { clean_job_ids: [], clean_kubernetes_jobs: [] }, 'it ended just now')
  await database`update job_run set updated_at = updated_at - interval '11 s' where id = ${only.id}`
  assert.deepEqual(await clean({ job_ids: [id] }), { clean_job_ids: [id], clean_kubernetes_jobs: [only.id] })
  assert.deepEqual(await runsOf(id), [])
  assert.deepEqual((await send('POST', `${path}/cleanFailedJob`)).body, { clean_kubernetes_jobs: [] })
})

test('a run is ended and reports it when it takes too long', async () => {
  const { path } = await newJob({ on_start: run('start') }, { runsMs: 'forever' }, { max_duration_seconds: 1 })
  await send('POST', `${path}/deploy`, {})
  const status = await ends(path)
  assert.equal(status.state, 'DEPLOYMENT_ERROR')
  assert.match(status.reason, /longer than 1 s and was ended\..*max_duration_seconds/)
})

test('a job that runs for days delays no other deployment', async () => {
  const { path } = await newJob({ on_start: run('start') }, { runsMs: 'forever' }, { max_duration_seconds: 2_592_000 })
  const second = await newJob({ on_start: run('start') }, { runsMs: 'forever' })
  const { applicationId } = await platform.addObjects(a)
  for (const job of [path, second.path]) await send('POST', `${job}/deploy`, {})
  const executes = async (job: string) => (await send('GET', `${job}/status`)).body.state === 'EXECUTING'
  await until('both run', async () => (await executes(path)) && (await executes(second.path)))
  await send('POST', `/application/${applicationId}/deploy`, {})
  assert.equal((await ends(`/application/${applicationId}`)).state, 'DEPLOYED')
  assert.ok((await executes(path)) && (await executes(second.path)))
})

test('outputs of a job are variables of a later stage in the same deployment, with secrets sealed and masked', async () => {
  const output = JSON.stringify({
    URL: { value: 'db.internal', description: 'where' },
    TOKEN: { value: 'canary-secret-77', sensitive: true },
    PORT: { value: 5432 },
  })
  const { id, environmentId, applicationId } = await newJob({ on_start: run('start') }, { output })
  assert.equal((await send('POST', `/environment/${environmentId}/deploy`)).status, 202)
  assert.equal((await ends(`/application/${applicationId}`)).state, 'DEPLOYED')
  const prefix = `QOVERY_OUTPUT_JOB_Z${id.slice(0, 8).toUpperCase()}_`
  const inside = async (name: string) =>
    (await engine.exec(applicationId, ['printenv', `${prefix}${name}`], AbortSignal.timeout(60_000))).output
  assert.deepEqual(await Promise.all([inside('URL'), inside('TOKEN'), inside('PORT')]), [
    'db.internal',
    'canary-secret-77',
    '5432',
  ])
  const steps = await database`select coalesce(result::text, '') || coalesce(error, '') as text from workflow_step`
  const rows = await database`select variables::text as text from release union all select reason from job_run`
  for (const { text } of [...steps, ...rows] as unknown as { text: string | null }[]) {
    assert.ok(!text?.includes('canary-secret-77'))
  }
})

test('an invalid output file fails the job and names the fault', async () => {
  const cases: readonly [string, RegExp][] = [
    ['{"KEY": "plain"}', /has "KEY", which must be an object with a value/],
    ['not json', /is not JSON/],
    ['{"bad name": {"value": "x"}}', /"bad name" needs a name of/],
  ]
  const { path, behave } = await newJob({ on_start: run('start') }, {})
  for (const [output, reason] of cases) {
    await behave({ output })
    await send('POST', `${path}/deploy`, {})
    const status = await ends(path)
    assert.equal(status.state, 'DEPLOYMENT_ERROR')
    assert.match(status.reason, reason)
  }
})

test('stop and delete run the command of the job for that event, and fail when it fails', async () => {
  const { id, path, behave } = await newJob(everyEvent, {})
  await send('POST', `${path}/deploy`, {})
  assert.equal((await ends(path)).state, 'DEPLOYED')
  await behave({ exitCode: 2, lines: ['still in use'] })
  await send('POST', `${path}/stop`)
  const refused = await ends(path)
  assert.equal(refused.state, 'STOP_ERROR')
  assert.match(refused.reason, /exit code 2\.\nstill in use/)
  await behave({})
  await send('POST', `${path}/stop`)
  assert.equal((await ends(path)).state, 'STOPPED')
  assert.deepEqual(
    (await runsOf(id)).map((one: { event: string; status: string }) => `${one.event} ${one.status}`),
    ['STOP SUCCESS', 'STOP ERROR', 'START SUCCESS'],
  )
  await behave({ exitCode: 1 })
  await send('DELETE', path)
  assert.equal((await ends(path)).state, 'DELETE_ERROR')
  await behave({})
  await send('DELETE', path)
  assert.equal((await ends(path)).state, 'gone')
})

test('a job without a command for the event runs nothing and reports it', async () => {
  const { id, path, environmentId } = await newJob({ on_delete: run('delete') }, {})
  await send('POST', `${path}/deploy`, {})
  const status = await ends(path)
  assert.equal(status.state, 'DEPLOYED')
  assert.deepEqual(await runsOf(id), [])
  const log = await send('GET', `/environment/${environmentId}/logs?version=${status.execution_id}`)
  assert.match(log.text, /It has no on_start: nothing runs\./)
})

test('a forced event runs once, whatever a deployment would run', async () => {
  const { id, path } = await newJob(everyEvent, {})
  const missing = await send('POST', `${path}/deploy?forceEvent=CRON`, {})
  assert.equal(missing.status, 400)
  assert.match(missing.text, /forceEvent: job .* has no cronjob/)
  assert.equal((await send('POST', `${path}/deploy?forceEvent=STOP`, {})).status, 202)
  assert.equal((await ends(path)).state, 'DEPLOYED')
  assert.equal((await send('POST', `${path}/redeploy?forceEvent=DELETE`)).status, 202)
  assert.equal((await ends(path)).state, 'DEPLOYED')
  assert.deepEqual(
    (await runsOf(id)).map((one: { trigger: string; event: string }) => `${one.trigger} ${one.event}`),
    ['FORCED DELETE', 'FORCED STOP'],
  )
})

test('a cancelled deployment ends the run and leaves the job cancelled', async () => {
  const { id, path, environmentId } = await newJob({ on_start: run('start') }, { runsMs: 'forever' })
  await send('POST', `${path}/deploy`, {})
  const isRunning = async () =>
    (await engine.listTasks(AbortSignal.timeout(60_000))).some((one) => one.service === id && one.running)
  await until('it runs', isRunning)
  assert.equal((await send('POST', `/environment/${environmentId}/cancelDeployment`)).status, 202)
  assert.equal((await ends(path)).state, 'CANCELED')
  assert.equal(await isRunning(), false)
  assert.equal((await runsOf(id))[0].status, 'CANCELED')
})

test('a job is built from its repository, with a Dockerfile of its own', async () => {
  const { environmentId } = await platform.addObjects(a)
  const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }
  const body = {
    ...jobBody('built'),
    source: { docker: { git_repository, dockerfile_raw: 'FROM quayside/node:24\nCMD ["node"]\n' } },
    schedule: { on_start: run('start') },
  }
  const made = await send('POST', `/environment/${environmentId}/job`, body)
  assert.equal(made.status, 201, made.text)
  await send('POST', `/job/${made.body.id}/deploy`, {})
  const status = await ends(`/job/${made.body.id}`)
  assert.deepEqual([status.state, status.reason], ['DEPLOYED', null])
  const names = status.steps.details.map((step: { step_name: string }) => step.step_name)
  assert.deepEqual(names, ['GIT_CLONE', 'BUILD', 'EXECUTING'])
  const history = await send('GET', `/job/${made.body.id}/deploymentHistoryV2`)
  assert.equal(history.body.results[0].details.commit.git_commit_id, commit)
})

test('the history shows which event ran, and with which command', async () => {
  const { id, path } = await newJob(everyEvent, {})
  const entries = async (form: string) => (await send('GET', `/job/${id}/${form}`)).body.results
  for (const [request, event, argument] of [
    ['deploy', 'ON_START', 'start'],
    ['deploy?forceEvent=DELETE', 'ON_DELETE', 'delete'],
    ['stop', 'ON_STOP', 'stop'],
  ]) {
    const accepted = await send('POST', `${path}/${request}`, request === 'stop' ? undefined : {})
    assert.equal(accepted.status, 202, accepted.text)
    assert.equal((await ends(path)).reason, null)
    const [entry] = await entries('deploymentHistory')
    assert.deepEqual([entry.schedule, entry.arguments], [{ event, schedule_at: null }, [argument]], request)
    const [{ details }] = await entries('deploymentHistoryV2')
    const schedule = { ...everyEvent, lifecycle_type: 'GENERIC' }
    assert.deepEqual([details.schedule, details.job_type, details.tag], [schedule, 'LIFECYCLE', '1'], request)
  }
})

test('the history of a cron job shows its timetable when its deployment runs nothing', async () => {
  const cronjob = { arguments: ['sweep'], timezone: 'Etc/UTC', scheduled_at: '0 4 * * *' }
  const { id, path } = await newJob({ cronjob }, {})
  await send('POST', `${path}/deploy`, {})
  await ends(path)
  const [entry] = (await send('GET', `/job/${id}/deploymentHistory`)).body.results
  assert.deepEqual([entry.schedule, entry.tag], [{ event: 'CRON', schedule_at: '0 4 * * *' }, '1'])
  const [{ details }] = (await send('GET', `/job/${id}/deploymentHistoryV2`)).body.results
  assert.deepEqual([details.schedule, details.job_type], [{ cron_job: cronjob }, 'CRON'])
  const execution_id = (await send('GET', `${path}/status`)).body.execution_id
  const back = await send('POST', `${path}/rollback`, { execution_id })
  assert.equal(back.status, 202, back.text)
  assert.deepEqual([(await ends(path)).state, (await ends(path)).reason], ['DEPLOYED', null])
})
