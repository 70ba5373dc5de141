import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { runIfDue } from '../database/testing-due.ts'
import type { TaskBehaviour } from '../engines/fake/fake-tasks.ts'
import { fakeTask } from '../engines/fake/fake-workload.ts'
import { FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { armFailpoints } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { testVault } from '../vault/testing.ts'
import { createFinisher, createWorkflows, type Workflows } from '../workflows/index.ts'
import { until } from '../workflows/testing.ts'
import type { JobRunRow } from './job-run.ts'
import { beginRun, forgetOldRuns, insertRun } from './job-run-store.ts'
import { createJobRunWorkflow, jobRunWorkflow } from './job-run-workflow.ts'
import { endTimetable, failRun, followTimetable, type JobsOptions } from './jobs.ts'
import { createTaskSweeper, createTimetables } from './reconcilers.ts'
import { createRunCommands, jobTimetable } from './run-commands.ts'
import { jobRuns } from './run-records.ts'

interface Cron {
  readonly engine: FakeEngine
  readonly serviceId: string
  readonly clock: Clock & { set(moment: string): void; step(ms: number): void }
  readonly options: JobsOptions
  readonly workflows: Workflows
  runs(): Promise<JobRunRow[]>
  /** Every server looks for due runs. */
  look(): Promise<void>
  follow(scheduled_at: string, timezone?: string): Promise<void>
  /** Ends the server that is running something, so that another one takes over. */
  leave(): Promise<void>
  /** Waits until all runs have ended. */
  quiet(count: number): Promise<JobRunRow[]>
}

/** A deployed cron job, and servers that follow its timetable. The test sets the wall clock. */
async function openCron(
  t: Cleanup,
  {
    behaviour = {},
    settings = {},
    retries = 0,
    servers = 1,
    timeoutSeconds = 60,
  }: {
    readonly behaviour?: TaskBehaviour
    readonly settings?: Readonly<Record<string, unknown>>
    readonly retries?: number
    readonly servers?: number
    readonly timeoutSeconds?: number
  } = {},
): Promise<Cron> {
  // Ended before their database is removed.
  const all: { workflows: Workflows; options: JobsOptions }[] = []
  t.after(async () => {
    await Promise.all(all.map(({ workflows }) => workflows.stop()))
  })
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId } = await addService(sql, place.environment, 'job')
  let shiftMs = 0
  const clock = {
    ...systemClock,
    now: () => new Date(systemClock.now().getTime() + shiftMs),
    set: (moment: string): void => {
      shiftMs = Date.parse(moment) - systemClock.now().getTime()
    },
    step: (ms: number): void => {
      shiftMs += ms
    },
  }
  const engine = new FakeEngine({ clock })
  engine.behave('cron', { task: behaviour })
  const release = {
    id: newId(),
    service: serviceId,
    environment: place.environment.environmentId,
    displayName: 'nightly',
    workload: { ...fakeTask('cron'), timeoutSeconds },
  }
  const advancedSettings = {
    'cronjob.concurrency_policy': 'Forbidden',
    'cronjob.success_jobs_history_limit': 5,
    'cronjob.failed_jobs_history_limit': 5,
    ...settings,
  }
  for (let number = 0; number < servers; number++) {
    const options: JobsOptions = {
      database: sql,
      clock,
      log: silentLogger,
      vault: await testVault(t, sql),
      workflows: () => workflows,
      load: async () => ({ engine, release, retries, secrets: [], advancedSettings, haveImage: async () => {} }),
      collect: () => {},
      isCollected: () => true,
      heldRuns: async () => new Set(),
    }
    const workflow = createJobRunWorkflow(options)
    const workflows = createWorkflows({
      database: sql,
      clock,
      log: silentLogger,
      workflows: [workflow],
      maxRunning: 20,
    })
    workflows.start()
    all.push({ workflows, options })
  }
  const [first] = all
  assert.ok(first)
  const { signal } = new AbortController()
  const runs = async () => [...(await sql<JobRunRow[]>`select * from job_run order by scheduled_at`)]
  return {
    engine,
    serviceId,
    clock,
    ...first,
    runs,
    look: async () => {
      await Promise.all(all.map(({ options }) => runIfDue(sql, createTimetables(options), signal)))
    },
    follow: (scheduled_at, timezone = 'Etc/UTC') =>
      sql.begin((tx) =>
        followTimetable(tx, { serviceId, releaseId: release.id, now: clock.now() }, { scheduled_at, timezone }),
      ),
    leave: async () => void (await all.find(({ workflows }) => workflows.counts().running > 0)?.workflows.stop()),
    quiet: (count) =>
      until(`${count} runs have ended`, async () => {
        const found = await runs()
        return found.length === count && found.every((run) => run.finished_at !== null) && found
      }),
  }
}

const moments = (runs: readonly JobRunRow[]) => runs.map((run) => run.scheduled_at?.toISOString().slice(11, 16))

test('a run starts at its time: not before, and soon after', async (t) => {
  const cron = await openCron(t)
  cron.clock.set('2026-05-04T09:59:59.300Z')
  await cron.follow('* * * * *')
  await cron.look()
  const [run] = await cron.quiet(1)
  assert.deepEqual(
    [run?.status, run?.trigger, run?.event, run?.exit_code, run?.tries],
    ['SUCCESS', 'CRON', 'CRON', 0, 1],
  )
  const late = (run?.started_at?.getTime() ?? 0) - Date.parse('2026-05-04T10:00:00Z')
  assert.ok(late >= 0 && late < 10_000, `${late} ms`)
  await cron.look()
  assert.equal((await cron.runs()).length, 1)
})

test('two servers run one moment once', async (t) => {
  const cron = await openCron(t, { servers: 2 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await Promise.all([cron.look(), cron.look(), cron.look()])
  await cron.quiet(1)
  assert.equal(cron.engine.tasksBegun, 1)
})

test('a run that another server takes over starts once and ends once', async (t) => {
  const cron = await openCron(t, { servers: 2, behaviour: { runsMs: 'forever' }, timeoutSeconds: 7200 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  await until('it runs', () => cron.engine.tasksBegun === 1)
  await cron.leave()
  const [task] = await cron.engine.listTasks(AbortSignal.timeout(60_000))
  cron.engine.finishTask(task?.run ?? '', 0)
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.tries, cron.engine.tasksBegun], ['SUCCESS', 1, 1])
})

test('missed moments are replaced by one run, of the last of them', async (t) => {
  const cron = await openCron(t)
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('*/5 * * * *')
  cron.clock.set('2026-05-04T13:02:00Z')
  await cron.look()
  await cron.look()
  assert.deepEqual(moments(await cron.quiet(1)), ['13:00'])
})

test('a clock that is set forward or back causes no run twice', async (t) => {
  const cron = await openCron(t)
  cron.clock.set('2026-05-04T10:00:30Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  await cron.quiet(1)
  cron.clock.step(3_600_000)
  await cron.look()
  assert.deepEqual(moments(await cron.quiet(2)), ['10:01', '11:01'])
  cron.clock.step(-3_600_000)
  for (let minute = 0; minute < 3; minute++) {
    await cron.look()
    cron.clock.step(60_000)
  }
  assert.deepEqual(moments(await cron.quiet(2)), ['10:01', '11:01'])
  cron.clock.set('2026-05-04T11:02:00.100Z')
  await cron.look()
  assert.deepEqual(moments(await cron.quiet(3)), ['10:01', '11:01', '11:02'])
})

const overlaps = [
  ['Forbidden', ['RUNNING', 'SKIPPED'], 1],
  ['Allow', ['RUNNING', 'RUNNING'], 2],
  ['Replace', ['CANCELED', 'RUNNING'], 2],
] as const
for (const [policy, statuses, begun] of overlaps) {
  test(`while a run is in progress, ${policy} makes the next one: ${statuses[1]}`, async (t) => {
    const cron = await openCron(t, {
      behaviour: { runsMs: 'forever' },
      settings: { 'cronjob.concurrency_policy': policy },
      timeoutSeconds: 7200,
    })
    cron.clock.set('2026-05-04T10:00:00Z')
    await cron.follow('* * * * *')
    for (const moment of ['10:01', '10:02']) {
      cron.clock.set(`2026-05-04T${moment}:00.100Z`)
      await cron.look()
      await until(
        `the run of ${moment} is decided`,
        async () => (await cron.runs()).length > 0 && (await cron.runs()).every(({ status }) => status !== 'QUEUED'),
      )
    }
    await until('both are as they shall be', async () => {
      const found = (await cron.runs()).map(({ status }) => status)
      return found.join() === statuses.join() && cron.engine.tasksBegun === begun
    })
    const [first, second] = await cron.runs()
    if (policy === 'Forbidden')
      assert.match(second?.reason ?? '', /^The run of 2026-05-04T10:01:00\.000Z was still going/)
    if (policy === 'Replace') assert.equal(first?.reason, 'Another run took its place.')
  })
}

test('a failing run is restarted as often as allowed, and reports why it failed', async (t) => {
  const cron = await openCron(t, { behaviour: { exitCode: 5, lines: ['no disk'] }, retries: 1 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.exit_code, run?.tries], ['ERROR', 5, 2])
  assert.equal(run?.reason, 'It ended with exit code 5.\nno disk')
})

test('a person ends a run of the timetable, which continues, and no run of a deployment', async (t) => {
  const cron = await openCron(t, { behaviour: { runsMs: 'forever' }, timeoutSeconds: 7200 })
  const { database, clock } = cron.options
  const commands = createRunCommands({ database, clock, workflows: cron.workflows })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('*/2 * * * *', 'Europe/Paris')
  cron.clock.set('2026-05-04T10:02:00.100Z')
  await cron.look()
  await until('it runs', () => cron.engine.tasksBegun === 1)
  const id = (await cron.runs())[0]?.id ?? ''
  await assert.rejects(commands.cancel(newId(), id, 'Ada'), /run .* not/i)
  await commands.cancel(cron.serviceId, id, 'Ada')
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.reason], ['CANCELED', 'Ada cancelled it.'])
  await assert.rejects(commands.cancel(cron.serviceId, id, 'Ada'), /it has ended/)
  const { cron_at, timezone, next } = await jobTimetable(database, cron.serviceId)
  assert.deepEqual([cron_at, timezone, next.length], ['*/2 * * * *', 'Europe/Paris', 5])
  assert.equal(next[4]?.toISOString(), '2026-05-04T10:12:00.000Z')
  const forced = newId()
  const of = { service_id: cron.serviceId, release_id: newId(), request_id: null, scheduled_at: null }
  await insertRun(database, { ...of, id: forced, trigger: 'FORCED', event: 'CRON', created_at: clock.now() })
  await assert.rejects(commands.cancel(cron.serviceId, forced, 'Ada'), /Cancel the deployment/)
})

test('a stopped job runs no more, and the runs of its timetable end', async (t) => {
  const cron = await openCron(t, { behaviour: { runsMs: 'forever' }, timeoutSeconds: 7200 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  await until('it runs', () => cron.engine.tasksBegun === 1)
  await cron.options.database.begin((sql) => endTimetable(sql, cron.options, cron.serviceId))
  cron.workflows.nudge()
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.reason], ['CANCELED', 'Its job was stopped.'])
  cron.clock.set('2026-05-04T10:02:00.100Z')
  await cron.look()
  assert.equal((await cron.runs()).length, 1)
  assert.equal(
    (await cron.engine.listTasks(AbortSignal.timeout(60_000))).some(({ running }) => running),
    false,
  )
})

test('a recorded run starts although the server ended before it began', async (t) => {
  const cron = await openCron(t)
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  armFailpoints('job.claimed:throw')
  t.after(() => armFailpoints(undefined))
  await assert.rejects(cron.look(), /failpoint/)
  await cron.quiet(1)
  await cron.look()
  assert.equal((await cron.runs()).length, 1)
  assert.equal(cron.engine.tasksBegun, 1)
})

test('a new version keeps the moments of the same timetable, and another timetable has its own', async (t) => {
  const cron = await openCron(t)
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  // Deployed again at exactly that moment.
  await cron.follow('* * * * *')
  await cron.look()
  assert.deepEqual(moments(await cron.quiet(1)), ['10:01'])
  await cron.follow('0 12 * * *')
  cron.clock.set('2026-05-04T10:02:00.100Z')
  await cron.look()
  assert.equal((await cron.runs()).length, 1)
})

test('as many ended runs are kept as the settings say, and the engine keeps none of them', async (t) => {
  const cron = await openCron(t, { settings: { 'cronjob.success_jobs_history_limit': 2 } })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  for (const minute of [1, 2, 3, 4]) {
    cron.clock.set(`2026-05-04T10:0${minute}:00.100Z`)
    await cron.look()
    await until('it has run', async () => cron.engine.tasksBegun === minute && (await cron.quiet(Math.min(minute, 2))))
  }
  assert.deepEqual(moments(await cron.runs()), ['10:03', '10:04'])
  const listed = await jobRuns(cron.options.database, cron.serviceId)
  assert.deepEqual(
    listed.map(({ status, duration_sec }) => [status, duration_sec]),
    [
      ['SUCCESS', 0],
      ['SUCCESS', 0],
    ],
  )
  const sweep = () =>
    createTaskSweeper(cron.options, { name: 'local', engine: cron.engine }).reconcile(AbortSignal.timeout(60_000))
  const left = async () => (await cron.engine.listTasks(AbortSignal.timeout(60_000))).length
  await sweep()
  assert.ok((await left()) >= 1, 'the lines of the last one may not be collected yet')
  cron.clock.step(60_000)
  await sweep()
  assert.equal(await left(), 0)
})

test('a run is deleted as long after its end as the settings say', async (t) => {
  const cron = await openCron(t, { settings: { 'job.delete_ttl_seconds_after_finished': 60 } })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  await until('it has run', async () => cron.engine.tasksBegun === 1 && (await cron.quiet(1)))
  const { database } = cron.options
  await database`update service set advanced_settings = '{"job.delete_ttl_seconds_after_finished": 60}'
    where id = ${cron.serviceId}`
  const [run] = await cron.runs()
  const end = run?.finished_at?.getTime() ?? 0
  await forgetOldRuns(database, new Date(end + 59_000))
  assert.equal((await cron.runs()).length, 1)
  await forgetOldRuns(database, new Date(end + 61_000))
  assert.equal((await cron.runs()).length, 0)
})

test('a run whose workflow ended without it is ended, and the next one runs', async (t) => {
  const cron = await openCron(t)
  const { database } = cron.options
  const [id, at] = [newId(), new Date('2026-05-04T10:00:00Z')]
  const of = { service_id: cron.serviceId, release_id: newId(), request_id: null }
  await insertRun(database, { id, ...of, trigger: 'CRON', event: 'CRON', scheduled_at: at, created_at: at })
  await beginRun(database, id, at)
  await database`
    insert into workflow (id, kind, key, input, state, error)
    values (${id}, ${jobRunWorkflow}, ${id}, ${database.json({ runId: id })}, 'failed', 'failed: a bug')`
  const workflows = [createJobRunWorkflow(cron.options)]
  await createFinisher({ database, log: silentLogger, workflows }).reconcile(AbortSignal.timeout(60_000))
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.reason], ['ERROR', 'It could not continue (failed: a bug).'])
  cron.clock.set('2026-05-04T10:00:30Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00Z')
  await cron.look()
  assert.equal((await cron.quiet(2))[1]?.status, 'SUCCESS')
})

test('a run that the platform ends fails with the reason, after a failed try, and the next one starts', async (t) => {
  const cron = await openCron(t, { behaviour: { runsMs: 'forever' }, retries: 3, timeoutSeconds: 7200 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  await until('it runs', () => cron.engine.tasksBegun === 1)
  const [{ id } = { id: '' }] = await cron.runs()
  cron.engine.finishTask(`${id}-1`, 1)
  await until('it is tried again', () => cron.engine.tasksBegun === 2)
  const attempt = { signal: AbortSignal.timeout(60_000), output: silent }
  for (let times = 0; times < 2; times++)
    await failRun({ ...cron.options, engine: cron.engine }, { id, reason: 'It wrote too much.' }, attempt)
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.reason, run?.tries], ['ERROR', 'It wrote too much.', 2])
  cron.clock.set('2026-05-04T10:02:00.100Z')
  await cron.look()
  await until('the next one runs', () => cron.engine.tasksBegun === 3)
})

test('a run that the platform ends between two tries is not retried', async (t) => {
  const cron = await openCron(t, { behaviour: { exitCode: 1 }, retries: 3 })
  cron.clock.set('2026-05-04T10:00:00Z')
  await cron.follow('* * * * *')
  cron.clock.set('2026-05-04T10:01:00.100Z')
  await cron.look()
  const [{ id }] = await until('it begins', async () => {
    const [first] = await cron.runs()
    return cron.engine.tasksBegun > 0 && first && ([first] as const)
  })
  const attempt = { signal: AbortSignal.timeout(60_000), output: silent }
  await failRun({ ...cron.options, engine: cron.engine }, { id, reason: 'It wrote too much.' }, attempt)
  const [run] = await cron.quiet(1)
  assert.deepEqual([run?.status, run?.reason], ['ERROR', 'It wrote too much.'])
  assert.ok(cron.engine.tasksBegun < 3, `${cron.engine.tasksBegun}`)
})
