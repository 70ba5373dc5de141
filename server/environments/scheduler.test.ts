import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { openDatabase } from '../database/index.ts'
import { runIfDue } from '../database/testing-due.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { silentLogger } from '../lib/log.ts'
import { createScheduled } from '../requests/index.ts'
import { createScheduler } from './scheduler.ts'

/**
 * Rules that act, on a clock that the tests set. The requests are real and run on the fake engine.
 */
const platform = await createPlatform({ after })
// Requests run, but no other scheduler with the real clock.
platform.workflows.start()
const { a, b, call, database, workflows } = platform
const signal = new AbortController().signal
let now = new Date()
const clock: Clock = { ...systemClock, now: () => now }
const scheduler = () => {
  const scheduled = createScheduled({ database, clock, workflows })
  return createScheduler({ database, clock, log: silentLogger, ...scheduled })
}
const look = async (time: string) => {
  now = new Date(time)
  await runIfDue(database, scheduler(), signal)
  await atRest()
}
const ask = async (method: string, path: string, body?: unknown) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}

let environment: string
let [web, worker] = ['', '']
const atRest = () =>
  until('nothing is in progress', async () => {
    const open =
      await database`select from deployment_request where environment_id = ${environment} and finished_at is null`
    return open.length === 0
  })
const states = async () => {
  const rows = await database<
    { id: string; state: string }[]
  >`select id, state from service where environment_id = ${environment}`
  return [web, worker].map((id) => rows.find((row) => row.id === id)?.state)
}
/** The requests of the rule so far. */
const asked = async () => {
  const rows = await database<{ asked: string }[]>`
    select r.action || ' ' || count(*) as asked from deployment_request r join deployment_target t
    on t.request_id = r.id
    where environment_id = ${environment} and origin = 'QOVERY_INTERNAL' group by r.id order by r.seq`
  return rows.map((row) => row.asked)
}
/** Records a request as if someone had made it at that time. */
const act = async (service: string, action: string, time: string) => {
  const { id } = await ask('POST', `/application/${service}/${action}`, {})
  await database`update deployment_request set created_at = ${time} where id = ${id}`
  await atRest()
}
const times = { timezone: 'Europe/Paris', start_time: '1970-01-01T08:00:00Z', stop_time: '1970-01-01T19:00:00Z' }
const days = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY']
const setRule = async (change: object) => {
  const { id } = await ask('GET', `/environment/${environment}/deploymentRule`)
  await ask('PUT', `/environment/${environment}/deploymentRule/${id}`, {
    auto_stop: true,
    ...times,
    weekdays: days,
    ...change,
  })
  await database`update environment_deployment_rule set updated_at = '2026-06-01T00:00:00Z' where id = ${id}`
}

await platform.addRepository(a)
beforeEach(async () => {
  const { id } = await ask('POST', `/project/${a.objects.projectId}/environment`, {
    name: `hours ${performance.now()}`,
  })
  environment = id
  const add = async (name: string) =>
    (
      await ask('POST', `/environment/${id}/application`, {
        name,
        git_repository: { url: 'http://localhost:3000/git/hello.git' },
      })
    ).id
  ;[web, worker] = [await add('web'), await add('worker')]
  await act(web, 'deploy', '2026-06-08T10:00:00Z')
  await setRule({})
  // 2026-06-08 is a Monday; Paris is two hours ahead.
  await look('2026-06-08T16:59:00Z')
  assert.deepEqual([await states(), await asked()], [['DEPLOYED', 'READY'], []])
})

test('a rule stops running services when the hours end and starts the same ones when they begin', async () => {
  const commit = async () =>
    (await database`select deployed_commit->>'id' as id from service where id = ${web}`)[0]?.['id']
  const before = await commit()
  await platform.addRepository(a, 'a later change')
  await look('2026-06-08T17:00:01Z')
  await look('2026-06-08T17:00:02Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
  await look('2026-06-09T05:59:59Z')
  assert.deepEqual(await asked(), ['STOP 1'])
  await look('2026-06-09T06:00:01Z')
  assert.deepEqual(
    [await states(), await asked()],
    [
      ['DEPLOYED', 'READY'],
      ['STOP 1', 'DEPLOY 1'],
    ],
  )
  assert.equal(await commit(), before)
  await look('2026-06-12T17:30:00Z')
  await look('2026-06-13T10:00:00Z')
  assert.deepEqual(await states(), ['STOPPED', 'READY'])
})

test('history and audit log name the deployment rule when it acts', async () => {
  await look('2026-06-08T17:00:01Z')
  const { results } = await ask('GET', `/environment/${environment}/deploymentHistoryV2`)
  const { origin, triggered_by } = results[0].auditing_data
  assert.deepEqual([origin, triggered_by], ['QOVERY_INTERNAL', 'deployment rule'])
  const events = await database<{ event_type: string; target_type: string }[]>`
    select event_type, target_type from audit_event where environment_id = ${environment}
    and triggered_by = 'deployment rule' order by position`
  assert.deepEqual(
    [...events],
    [
      { event_type: 'TRIGGER_STOP', target_type: 'ENVIRONMENT' },
      { event_type: 'STOPPED', target_type: 'APPLICATION' },
    ],
  )
})

test('a rule respects a user’s request until the next edge', async () => {
  await look('2026-06-08T17:00:01Z')
  await act(web, 'deploy', '2026-06-08T18:00:00Z')
  await look('2026-06-08T19:00:00Z')
  assert.deepEqual(await states(), ['DEPLOYED', 'READY'])
  await look('2026-06-09T06:00:01Z')
  assert.deepEqual(await asked(), ['STOP 1'])
  await act(web, 'stop', '2026-06-09T08:00:00Z')
  await look('2026-06-09T09:00:00Z')
  assert.deepEqual(await states(), ['STOPPED', 'READY'])
  await look('2026-06-09T17:00:01Z')
  await look('2026-06-10T06:00:01Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
})

test('a rule respects a user’s request between the edge and its turn', async () => {
  await act(worker, 'deploy', '2026-06-08T17:00:01Z')
  await look('2026-06-08T17:00:02Z')
  assert.deepEqual(await states(), ['STOPPED', 'DEPLOYED'])
  await act(web, 'deploy', '2026-06-08T17:30:00Z')
  await act(web, 'stop', '2026-06-09T06:00:01Z')
  await look('2026-06-09T06:00:02Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'DEPLOYED'], ['STOP 1']])
})

test('a rule requests a change once when several servers check or clocks jump an hour', async () => {
  now = new Date('2026-06-08T17:00:01Z')
  await Promise.all(Array.from({ length: 5 }, () => scheduler().reconcile(signal)))
  await atRest()
  for (const jump of ['2026-06-08T16:00:01Z', '2026-06-08T17:00:01Z', '2026-06-08T18:00:01Z', '2026-06-08T17:01:00Z'])
    await look(jump)
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
})

test('a turn leaves nothing behind and is repeated later when it fails half way', async () => {
  now = new Date('2026-06-08T17:00:01Z')
  const scheduled = createScheduled({ database, clock, workflows })
  const stop: typeof scheduled.stop = async (order) => {
    await scheduled.stop(order)
    throw new Error('the server ends here')
  }
  const broken = createScheduler({ database, clock, log: silentLogger, ...scheduled, stop })
  await assert.rejects(broken.reconcile(signal), /ends here/)
  assert.deepEqual([await states(), await asked()], [['DEPLOYED', 'READY'], []])
  await look('2026-06-08T17:00:02Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
})

test('what is being restored from a backup is left to that, and everything else is stopped', async () => {
  await act(worker, 'deploy', '2026-06-08T10:00:00Z')
  await database`update service set restoring = gen_random_uuid() where id = ${web}`
  await look('2026-06-08T17:00:01Z')
  assert.deepEqual(await states(), ['DEPLOYED', 'STOPPED'])
})

test('a rule starts nothing when it no longer stops the environment', async () => {
  await look('2026-06-08T17:00:01Z')
  await setRule({ auto_stop: false })
  await look('2026-06-09T06:00:01Z')
  await setRule({})
  await look('2026-06-09T06:00:02Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
})

test('an environment stays stopped until the next edge when its organization may not deploy', async () => {
  await look('2026-06-08T17:00:01Z')
  const restrict = (to: string | null) =>
    database`update organization set billing_deployment_restriction = ${to} where id = ${a.organizationId}`
  await restrict('TRIAL_EXPIRED')
  await look('2026-06-09T06:00:01Z')
  await restrict(null)
  await look('2026-06-09T07:00:00Z')
  assert.deepEqual([await states(), await asked()], [['STOPPED', 'READY'], ['STOP 1']])
  await look('2026-06-09T17:00:01Z')
  await look('2026-06-10T06:00:01Z')
  assert.deepEqual(
    [await states(), await asked()],
    [
      ['DEPLOYED', 'READY'],
      ['STOP 1', 'DEPLOY 1'],
    ],
  )
})

test('rules that wait for a lock delay no other organization in this turn or the next', async () => {
  const rule = async (id: string) => {
    await database`update environment_deployment_rule set auto_stop = true, timezone = 'Europe/Paris',
      start_time = '08:00', stop_time = '19:00', weekdays = ${days},
      updated_at = '2026-06-01T00:00:00Z' where environment_id = ${id}`
  }
  const own = [environment]
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const { id } = await ask('POST', `/project/${a.objects.projectId}/environment`, { name: `${name} ${environment}` })
    await rule(id)
    own.push(id)
  }
  const follows = async (id: string, edge: string) => {
    const rows = await database`select from environment_schedule where environment_id = ${id} and edge = ${edge}`
    return rows.length === 1
  }
  const holder = openDatabase({ url: platform.databaseUrl, max: 1 })
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = holder.begin(async (sql) => {
    await sql`select from environment_deployment_rule where environment_id = any(${own}) for update`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const one = scheduler()
  now = new Date('2026-06-08T17:00:01Z')
  await rule(b.objects.environmentId)
  const first = one.reconcile(signal)
  await until('the other organization is followed', () => follows(b.objects.environmentId, '2026-06-08T17:00:00Z'))
  await first
  now = new Date('2026-06-09T06:00:01Z')
  await one.reconcile(signal)
  assert.ok(await follows(b.objects.environmentId, '2026-06-09T06:00:00Z'))
  release.resolve()
  await holding
  await holder.end()
  await until('the organization is followed, too', async () => {
    const followed = await Promise.all(own.map((id) => follows(id, '2026-06-09T06:00:00Z')))
    return followed.every(Boolean)
  })
})
