import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Database, inTransaction, openDatabase, type Sql } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { cancelDeployment } from '../requests/cancel.ts'
import { setRequestStatus } from '../requests/request-store.ts'
import { listTargets, type TargetRow } from '../requests/target-store.ts'
import { addPlace } from '../variables/testing.ts'
import { until } from '../workflows/testing.ts'
import { finishTarget } from './settle.ts'

/** A deployment request for one service, in progress. */
async function addRequest(
  sql: Sql,
  { environmentId, serviceId }: { readonly environmentId: string; readonly serviceId: string },
  status: 'ONGOING' | 'QUEUED',
): Promise<string> {
  const id = newId()
  await sql`insert into workflow (id, kind, key, input) values (${id}, 'deployment', ${environmentId}, '{}')`
  await sql`
    insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
      created_at, updated_at)
    values (${id}, ${environmentId}, ${id}, 'DEPLOY', ${status}, 'API', 'test', 'test', now(), now())`
  await sql`
    insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      former_state)
    values (${id}, ${serviceId}, 'application', 'app', '', 'stage', 1, 'DEPLOYING', 'DEPLOYING')`
  return id
}

interface Bench {
  readonly sql: Database
  readonly other: Database
  readonly place: { readonly environmentId: string; readonly serviceId: string }
  /** The service's part of the running request. */
  readonly target: TargetRow
  /** Resolves when a statement waits for a lock. */
  readonly untilBlocked: () => Promise<unknown>
}

async function openBench(t: Cleanup): Promise<Bench> {
  const { sql, url } = await testDatabase(t)
  const { environment, service } = await addPlace(sql)
  const place = { environmentId: environment.environmentId ?? '', serviceId: service.serviceId ?? '' }
  const other = openDatabase({ url, max: 1 })
  t.after(() => other.end())
  await sql`update service set state = 'DEPLOYING' where id = ${place.serviceId}`
  const [target] = await listTargets(sql, [await addRequest(sql, place, 'ONGOING')])
  assert.ok(target)
  const untilBlocked = () =>
    until('somebody waits for a lock', async () => {
      const [row] = await sql<{ waits: boolean }[]>`
        select exists (select from pg_locks join pg_stat_activity using (pid)
          where not granted and datname = current_database()) as waits`
      return row?.waits
    })
  return { sql, other, place, target, untilBlocked }
}

/** Does the work in a transaction that stays uncommitted until the returned function is called. */
async function uncommitted(database: Database, work: (sql: Sql) => Promise<unknown>): Promise<() => Promise<void>> {
  const isWritten = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const ended = database.begin(async (sql) => {
    await work(sql)
    isWritten.resolve()
    await goOn.promise
  })
  await Promise.race([isWritten.promise, ended])
  return async () => {
    goOn.resolve()
    await ended
  }
}

test('a request that is accepted while another one ends shows in the state and records the state before it', async (t) => {
  const { sql, other, place, target, untilBlocked } = await openBench(t)
  let waiting = ''
  const commit = await uncommitted(other, async (tx) => {
    await tx`select from service where id = ${place.serviceId} for no key update`
    waiting = await addRequest(tx, place, 'QUEUED')
  })
  const ending = inTransaction(sql, (tx) => finishTarget(tx, { target, state: 'DEPLOYED', now: new Date() }))
  await untilBlocked()
  await Promise.all([commit(), ending])
  const [row] = await sql<{ state: string; former: string }[]>`
    select s.state, t.former_state as former from service s join deployment_target t on t.service_id = s.id
    where t.request_id = ${waiting}`
  assert.deepEqual({ ...row }, { state: 'DEPLOYMENT_QUEUED', former: 'DEPLOYED' })
})

test('a service that ends while it is being cancelled keeps its outcome', async (t) => {
  const { sql, other, place, target, untilBlocked } = await openBench(t)
  const commit = await uncommitted(other, async (tx) => {
    await finishTarget(tx, { target, state: 'DEPLOYED', now: new Date() })
  })
  const workflows = { requestCancel: async () => 'running' as const, nudge: () => {} }
  const canceling = cancelDeployment({ database: sql, clock: systemClock, workflows }, place.environmentId)
  await untilBlocked()
  await Promise.all([commit(), canceling])
  const [row] = await sql<{ state: string; status: string }[]>`
    select s.state, t.status from service s join deployment_target t on t.service_id = s.id`
  assert.deepEqual({ ...row }, { state: 'DEPLOYED', status: 'SUCCESS' })
})

test('cancelling fails when the request ends meanwhile', async (t) => {
  const { sql, other, place, target, untilBlocked } = await openBench(t)
  const commit = await uncommitted(other, async (tx) => {
    await setRequestStatus(tx, target.request_id, 'SUCCESS', new Date())
  })
  const workflows = { requestCancel: async () => 'ended' as const, nudge: () => {} }
  const canceling = cancelDeployment({ database: sql, clock: systemClock, workflows }, place.environmentId)
  const refused = assert.rejects(canceling, { code: 'conflict', message: /^Nothing is being deployed/ })
  await untilBlocked()
  await Promise.all([commit(), refused])
  const [row] = await sql<{ status: string }[]>`select status from deployment_request`
  assert.deepEqual({ ...row }, { status: 'SUCCESS' })
})
