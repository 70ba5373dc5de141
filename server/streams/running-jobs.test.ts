import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Database } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { addPlace, addService } from '../variables/testing.ts'
import { toServiceStatus } from './running.ts'
import { listReplicaNames, listRunning } from './running-store.ts'

/** One job alone in an environment. */
async function openJob(sql: Database) {
  const { environment, service } = await addPlace(sql)
  await sql`delete from service where id = ${service.serviceId}`
  const { serviceId } = await addService(sql, environment, 'job')
  const release = newId()
  await sql`
    insert into release (id, service_id, request_id, created_at, config_version, settings, variables, image)
    values (${release}, ${serviceId}, ${newId()}, now(), 1, '{}', '{}', ${sql.json({ reference: 'job@sha256:1' })})`
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  return {
    serviceId,
    release,
    addRun: async (status: string, minute: number, change: Record<string, string | number | null> = {}) => {
      const id = newId()
      const ended = status === 'QUEUED' || status === 'RUNNING' ? null : at(minute + 1)
      const run = {
        id,
        service_id: serviceId,
        release_id: release,
        trigger: 'CRON',
        event: 'CRON',
        status,
        tries: ended ? 1 : 0,
      }
      const moments = {
        created_at: at(minute),
        updated_at: at(minute),
        started_at: ended && at(minute),
        finished_at: ended,
      }
      await sql`insert into job_run ${sql({ ...run, ...moments, ...change })}`
      return id
    },
    enter: async (state: string) => void (await sql`update service set state = ${state} where id = ${serviceId}`),
    seen: async () => {
      const where = { clusterId: undefined, projectId: undefined, environmentIds: [environment.environmentId] }
      const [told] = toServiceStatus(await listRunning(sql, where)).environments
      const [job] = Object(told).jobs
      const names = job.pods.map(({ name }: { name: string }) => name)
      return {
        environment: told?.state,
        job: job.state,
        names,
        pods: job.pods,
        listed: await listReplicaNames(sql, serviceId),
      }
    },
  }
}

test('the state of a job is that of its runs: none, a running one, or the last ended one', async (t) => {
  const { sql } = await testDatabase(t)
  const { addRun, enter, seen, serviceId } = await openJob(sql)
  await enter('DEPLOYED')
  const summary = async () => {
    const { environment, job, names, listed } = await seen()
    return { environment, job, names, listed }
  }
  const nothing = { names: [], listed: [] }
  assert.deepEqual(await summary(), { environment: 'STOPPED', job: 'STOPPED', ...nothing })
  const well = await addRun('SUCCESS', 0)
  assert.deepEqual(await summary(), { environment: 'COMPLETED', job: 'COMPLETED', names: [well], listed: [] })
  const badly = await addRun('ERROR', 5, { exit_code: 4, reason: 'exited with code 4' })
  // Skipped, waiting and cancelled runs do not count.
  for (const [minute, status] of [
    [6, 'SKIPPED'],
    [7, 'CANCELED'],
    [8, 'QUEUED'],
  ] as const)
    await addRun(status, minute)
  assert.deepEqual(await summary(), { environment: 'ERROR', job: 'ERROR', names: [badly], listed: [] })
  const now = await addRun('RUNNING', 10)
  assert.deepEqual(await summary(), { environment: 'RUNNING', job: 'RUNNING', names: [now], listed: [now] })
  await enter('STOPPING')
  assert.deepEqual((await summary()).job, 'STOPPING')
  await sql`update job_run set status = 'CANCELED' where id = ${now}`
  await enter('STOPPED')
  assert.deepEqual(await summary(), { environment: 'STOPPED', job: 'STOPPED', ...nothing })
  await enter('DEPLOYED')
  await sql`delete from job_run where service_id = ${serviceId} and status <> 'SUCCESS'`
  assert.deepEqual((await summary()).job, 'COMPLETED')
})

test('the pods of a job show when its runs began and ended, and why one failed', async (t) => {
  const { sql } = await testDatabase(t)
  const { addRun, enter, seen, release } = await openJob(sql)
  await enter('DEPLOYED')
  const reason = 'exited with code 4\nno such table'
  const failed = await addRun('ERROR', 5, { exit_code: 4, reason, tries: 3 })
  const [start, end] = [Date.UTC(2026, 0, 1, 0, 5), Date.UTC(2026, 0, 1, 0, 6)]
  const told = { state_reason: 'Error', state_message: reason }
  const common = { name: failed, restart_count: 2 }
  const last_terminated_state = {
    exit_code: 4,
    exit_code_message: 'exited with code 4',
    reason: 'Error',
    message: '',
    signal: 0,
    started_at: start,
    finished_at: end,
  }
  assert.deepEqual((await seen()).pods, [
    {
      ...common,
      ...told,
      state: 'ERROR',
      started_at: start,
      service_version: release,
      last_events: [],
      containers: [
        {
          ...common,
          image: 'job@sha256:1',
          current_state: { state: 'ERROR', started_at: start, ...told },
          last_terminated_state,
        },
      ],
    },
  ])
  await addRun('SUCCESS', 7, { exit_code: 0 })
  const [well] = (await seen()).pods
  assert.deepEqual([well.state, well.state_reason, well.restart_count], ['COMPLETED', 'Completed', 0])
  await addRun('RUNNING', 9, { scheduled_at: '2026-01-01T00:09:30Z' })
  const running = (await seen()).pods.map((pod: { state: string; started_at: number }) => [pod.state, pod.started_at])
  assert.deepEqual(running, [['RUNNING', Date.UTC(2026, 0, 1, 0, 9, 30)]])
})
