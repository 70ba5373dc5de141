import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// The server is killed while a run of a job is stored, created, running or just over. The run ends
// once and its program runs once.

let server: ServerProcess
let cron: TestJob
let once: TestJob

before(async () => {
  server = await startServer()
  const environmentId = await makeEnvironment(server, 'jobs')
  // The schedule never comes due during a test. Tests make it due.
  const cronjob = {
    ...program(`setTimeout(() => console.log('ran'), 500)`),
    timezone: 'UTC',
    scheduled_at: '0 0 29 2 *',
  }
  cron = await makeJob(server, { environmentId, name: 'cron', schedule: { cronjob } })
  await cron.deploy()
  assert.equal((await cron.settles()).state, 'DEPLOYED')
  const on_start = program(`setTimeout(() => console.log('started'), 500)`)
  once = await makeJob(server, { environmentId, name: 'once', schedule: { on_start } })
  await once.deploy()
  assert.equal((await once.settles()).state, 'DEPLOYED')
})
after(async () => {
  await Promise.all([cron, once].map((job) => job?.git.remove()))
  await server?.close()
})

/** Makes the schedule due. */
const due = () =>
  server.sql`update job_schedule set next_at = date_trunc('milliseconds', now()) where service_id = ${cron.id}`

for (const point of ['job.claimed', 'task.created', 'task.started', 'task.ended', 'job.ended'] as const) {
  test(`a scheduled run ends once when the server is killed at ${point}`, async () => {
    const [former, lines] = [(await cron.runs())[0]?.id, await cron.printed('ran')]
    await server.restart({ failpoint: `${point}:kill` })
    await due()
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    const run = await until('the run has ended', async () => {
      const [last] = await cron.runs()
      return last?.id !== former && last?.finished_at !== null && last
    })
    assert.deepEqual([run.status, run.tries], ['SUCCESS', 1])
    await until('its line is stored', async () => (await cron.printed('ran')) === lines + 1)
  })
}

for (const point of ['task.created', 'task.started', 'task.ended'] as const) {
  test(`a deployment that runs a job succeeds when the server is killed at ${point}`, async () => {
    const lines = await once.printed('started')
    await server.restart({ failpoint: `${point}:kill` })
    await once.deploy()
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    assert.equal((await once.settles()).state, 'DEPLOYED')
    const [run] = await once.runs()
    assert.deepEqual([run?.status, run?.tries], ['SUCCESS', 1])
    await until('its line is stored', async () => (await once.printed('started')) === lines + 1)
  })
}
