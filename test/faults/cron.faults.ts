import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../server/lib/clock.ts'
import { makeEnvironment } from '../support/application.ts'
import { makeJob, program, type Run, type TestJob } from '../support/job.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// A cron job on a real engine. The test waits for a full minute. The benchmark cron-start measures
// the delay of a start.

let server: ServerProcess
let tick: TestJob

before(async () => {
  server = await startServer()
  const schedule = {
    cronjob: { ...program(`console.log('tick')`), timezone: 'Europe/Paris', scheduled_at: '* * * * *' },
  }
  tick = await makeJob(server, { environmentId: await makeEnvironment(server, 'cron'), name: 'tick', schedule })
  await tick.deploy()
})
after(async () => {
  await tick?.git.remove()
  await server?.close()
})

test('a cron job runs at its time and not before, and its lines are collected', async () => {
  // The build used the whole machine.
  const from = systemClock.now()
  const isNew = ({ status, scheduled_at }: Run) => status === 'SUCCESS' && new Date(String(scheduled_at)) > from
  const run = await until('the job has run', async () => (await tick.runs()).find(isNew), { limitMs: 90_000 })
  const lateMs = Date.parse(String(run.started_at)) - Date.parse(String(run.scheduled_at))
  assert.ok(lateMs >= 0 && lateMs < 60_000, `begun after ${lateMs} ms`)
  await until('its line is stored', async () => (await tick.printed('tick')) > 0)
})
