import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { jobBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { failRun } from '../jobs/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createDiskKeeper } from './keeper.ts'

/** Job runs that write to the disk without end, as seen from the API. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, engine, builder, database } = platform
const signal = AbortSignal.timeout(120_000)
const gibibyte = 1024 ** 3

const measure = (): Promise<void> =>
  createDiskKeeper({
    name: 'local',
    database,
    engine,
    builder,
    clock: systemClock,
    log: silentLogger,
    budgetBytes: undefined,
    layerGiB: 10,
    failRun: (run, signal) => failRun({ database, engine }, run, { signal, output: silent }),
    measureLogs: async () => ({ count: 0, bytes: 0 }),
  }).reconcile(signal)

const must = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
  return Object(answer.body)
}

/** A job whose program runs until it is ended. */
async function newJob(schedule: object, change: object = {}) {
  const { environmentId } = await platform.addObjects(a)
  const [registry] = await database`
    select id, url from container_registry where organization_id = ${a.organizationId} limit 1`
  const image_name = `jobs/${newId()}`
  const source = { image: { image_name, tag: '1', registry_id: registry?.['id'] } }
  const settings = { ...jobBody(`job-${newId()}`), source, schedule, max_nb_restart: 3, ...change }
  const { id } = await must('POST', `/environment/${environmentId}/job`, settings)
  engine.behave(`${String(registry?.['url']).replace(/^https:\/\//, '')}/${image_name}:1`, {
    task: { runsMs: 'forever' },
  })
  const path = `/job/${id}`
  return {
    path,
    runs: async () => (await must('GET', `${path}/run`)).results,
    /** Returns the running attempt, if any. */
    running: () =>
      until('its program runs', async () => {
        const tasks = await engine.listTasks(signal)
        return tasks.find((task) => task.service === id && task.running)?.run
      }),
    status: () =>
      until('its deployment has ended', async () => {
        const status = await must('GET', `${path}/status`)
        return status.deployment_request_id === null && status
      }),
  }
}

test('a lifecycle run fails with the reason when it writes beyond its limit, and the next one runs', async () => {
  const job = await newJob({ on_start: { arguments: ['start'] } }, { ephemeral_storage_in_gib: 2 })
  await must('POST', `${job.path}/deploy`, {})
  const first = await job.running()
  engine.written.set(first, { bytes: 2 * gibibyte })
  await measure()
  assert.equal(await job.running(), first, 'it is within its limit')
  engine.written.set(first, { bytes: 3 * gibibyte })
  await measure()
  const { state, reason } = await job.status()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /It was ended: it wrote 3\.0 GiB to the disk, and its limit is 2 GiB\. /)
  const [only, ...others] = await job.runs()
  assert.deepEqual([only.status, only.tries, others.length], ['ERROR', 1, 0], 'it is not tried again')
  assert.match(only.reason, /its limit is 2 GiB/)
  await must('POST', `${job.path}/deploy`, {})
  engine.finishTask(await job.running())
  assert.equal((await job.status()).state, 'DEPLOYED')
})

test('a cron run that writes beyond the platform’s limit is ended, and the next one starts', async () => {
  // A timetable whose own moments never come during the test. One of them would skip a run.
  const job = await newJob({ cronjob: { arguments: ['now'], scheduled_at: '0 0 1 1 *', timezone: 'Etc/UTC' } })
  await must('POST', `${job.path}/deploy`, {})
  assert.match((await job.status()).state, /DEPLOYED/)
  const runNow = () => database`update job_schedule set next_at = now() where service_id = ${job.path.slice(5)}`
  await runNow()
  const first = await job.running()
  engine.written.set(first, { bytes: 11 * gibibyte })
  await measure()
  const ended = await until('it has ended', async () =>
    (await job.runs()).find((run: { status: string }) => run.status !== 'RUNNING' && run.status !== 'QUEUED'),
  )
  assert.deepEqual([ended.status, ended.trigger, ended.tries], ['ERROR', 'CRON', 1])
  assert.match(ended.reason, /^It was ended: it wrote 11\.0 GiB to the disk, and its limit is 10 GiB\. /)
  await runNow()
  assert.notEqual(await job.running(), first)
  await measure()
  assert.equal((await must('GET', `${job.path}/status`)).state, 'DEPLOYED')
})
