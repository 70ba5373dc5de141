import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { startPrivateServer } from '../support/private-server.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// The engine dies during a run of a job, with or without the run's container. The run ends once,
// with the correct result.

const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let job: TestJob

before(
  async () => {
    if (skip) return
    ;({ engine, server, close } = await startPrivateServer())
    const cronjob = {
      ...program(`console.log('began'); setTimeout(() => console.log('ended'), 8000)`),
      timezone: 'UTC',
      // The schedule never comes due during a test. Tests make it due.
      scheduled_at: '0 0 29 2 *',
    }
    const environmentId = await makeEnvironment(server, 'jobs')
    job = await makeJob(server, { environmentId, name: 'cron', schedule: { cronjob }, settings: { max_nb_restart: 0 } })
    await job.deploy()
    const { state, reason } = await job.settles()
    assert.deepEqual([state, reason], ['DEPLOYED', null])
  },
  { timeout: 120_000 },
)
after(async () => {
  await job?.git.remove()
  await close?.()
})

/** Makes the schedule due. Returns the process id of the program once it runs. */
async function begin(): Promise<number> {
  const lines = await job.printed('began')
  await server.sql`update job_schedule set next_at = date_trunc('milliseconds', now()) where service_id = ${job.id}`
  await until('its line is stored', async () => (await job.printed('began')) === lines + 1)
  const [container] = await server.engine.containersWith(`quayside.service=${job.id}`, 'quayside.run')
  const { State } = Object(await server.engine.ask('GET', `/containers/${container?.Id}/json`))
  return State.Pid
}
const lastEnds = (former: string | undefined) =>
  until(
    'the run has ended',
    async () => {
      const [last] = await job.runs()
      return last?.id !== former && last?.finished_at !== null && last
    },
    { limitMs: 100_000 },
  )
const lastId = async () => (await job.runs())[0]?.id

test('a run that outlives its engine succeeds, once', { skip, timeout: 200_000 }, async () => {
  const [former, began, ended] = [await lastId(), await job.printed('began'), await job.printed('ended')]
  await begin()
  await engine.kill9()
  await engine.start()
  const run = await lastEnds(former)
  assert.deepEqual([run.status, run.tries], ['SUCCESS', 1])
  await until('its last line is stored', async () => (await job.printed('ended')) === ended + 1)
  assert.equal(await job.printed('began'), began + 1)
})

test('a run that dies with its engine fails and does not run again', {
  skip,
  timeout: 200_000,
}, async () => {
  const [former, began, ended] = [await lastId(), await job.printed('began'), await job.printed('ended')]
  const pid = await begin()
  await engine.kill9()
  process.kill(pid, 'SIGKILL')
  await engine.start()
  const run = await lastEnds(former)
  assert.equal(run.status, 'ERROR', JSON.stringify(run))
  assert.equal(run.tries, 1)
  assert.ok(run.exit_code !== 0, JSON.stringify(run))
  assert.deepEqual([await job.printed('began'), await job.printed('ended')], [began + 1, ended])
  await until('its container is gone', async () => {
    const left = await server.engine.containersWith(`quayside.service=${job.id}`, 'quayside.run')
    return left.length === 0
  })
})
