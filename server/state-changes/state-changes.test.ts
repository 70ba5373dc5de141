import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { type Database, openDatabase } from '../database/index.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { addPlace, addService, type Place } from '../variables/testing.ts'
import { insertRecordChange } from './record-change-store.ts'
import { positionOf, type StateChange } from './state-change.ts'
import { createStateChangePruner } from './state-change-pruner.ts'
import { createStateChanges } from './state-changes.ts'

function feedOf(database: Database, t: { after(work: () => Promise<void>): void }) {
  const feed = createStateChanges({ database, clock: systemClock, log: silentLogger, everyMs: 5 })
  t.after(() => feed.close())
  return feed
}

const organizationOf = ({ project }: Place): string => project.organizationId

test('each change of a state is reported once with its place, and other writes are not', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const other = await addPlace(sql)
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(organizationOf(place), (change) => seen.push(change))
  const { serviceId, environmentId, projectId } = place.service
  await sql`update service set state = 'BUILDING' where id in (${serviceId}, ${other.service.serviceId})`
  await sql`update service set state = 'BUILDING', name = 'renamed' where id = ${serviceId}`
  await sql`
    insert into observation (service_id, state, observed_at) values (${serviceId}, 'failing', now())`
  const requestId = newId()
  await sql`insert into workflow (id, kind, key, input) values (${requestId}, 'test', ${environmentId}, '{}')`
  await sql`
    insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller,
    created_at, updated_at)
    values (${requestId}, ${environmentId}, 'run-1', 'DEPLOY', 'API', 'test', 'test', now(), now())`
  await sql`update deployment_request set status = 'ONGOING' where id = ${requestId}`
  await sql`update deployment_request set started_at = now() where id = ${requestId}`
  await sql`update cluster set status = 'STOPPED' where organization_id = ${organizationOf(place)}`
  await sql`delete from service where id = ${serviceId}`
  await sql`delete from environment where id = ${environmentId}`
  await until('the end of the environment', () => seen.at(-1)?.type === 'environment.deleted')
  const told = seen.map(({ type, data }) => [type, data['state'] ?? data['status'] ?? ''])
  assert.deepEqual(told, [
    ['service.state', 'BUILDING'],
    ['service.running', 'ERROR'],
    ['deployment.status', 'ONGOING'],
    ['cluster.status', 'STOPPED'],
    ['service.deleted', 'BUILDING'],
    ['environment.deleted', ''],
  ])
  const [first] = seen
  assert.deepEqual(
    [first?.projectId, first?.mode, first?.data['environment_id'], first?.data['service_id'], first?.data['kind']],
    [projectId, 'STAGING', environmentId, serviceId, 'application'],
  )
})

test('the state of a job is reported as its runs begin and end, and when it is stopped', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId } = await addService(sql, place.environment, 'job')
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(organizationOf(place), (change) => seen.push(change))
  const add = async (): Promise<string> => {
    const id = newId()
    await sql`
      insert into job_run (id, service_id, release_id, "trigger", event, created_at, updated_at)
      values (${id}, ${serviceId}, ${newId()}, 'CRON', 'CRON', now(), now())`
    return id
  }
  const enter = async (id: string, status: string): Promise<void> =>
    void (await sql`update job_run set status = ${status}, finished_at = clock_timestamp() where id = ${id}`)
  const [first, second, third, skipped, unneeded] = [await add(), await add(), await add(), await add(), await add()]
  await enter(first, 'RUNNING')
  await sql`update job_run set reason = 'why' where id = ${first}`
  await enter(second, 'RUNNING')
  await enter(first, 'SUCCESS')
  await enter(second, 'ERROR')
  await enter(third, 'RUNNING')
  await enter(third, 'CANCELED')
  await enter(skipped, 'SKIPPED')
  await enter(unneeded, 'CANCELED')
  await sql`update service set state = 'STOPPED' where id = ${serviceId}`
  await sql`update service set state = 'DEPLOYING' where id = ${serviceId}`
  await sql`update service set state = 'STOPPED' where id = ${place.service.serviceId}`
  await until('the last change', () => seen.at(-1)?.data['service_id'] === place.service.serviceId)
  const told = seen.filter(({ type }) => type === 'service.running')
  assert.deepEqual(
    told.map(({ data }) => data['state']),
    ['RUNNING', 'RUNNING', 'RUNNING', 'ERROR', 'RUNNING', 'ERROR', 'STOPPED', 'ERROR'],
  )
  assert.deepEqual([told[0]?.data['service_id'], told[0]?.data['kind']], [serviceId, 'job'])
})

test('a backup is reported as it, its proof and its restore begin and end', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId } = place.service
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(organizationOf(place), (change) => seen.push(change))
  const id = newId()
  await sql`
    insert into backup (id, service_id, created_at, updated_at, name) values (${id}, ${serviceId}, now(), now(), 'one')`
  await sql`update backup set state = 'RUNNING' where id = ${id}`
  await sql`update backup set name = 'another', updated_at = now() where id = ${id}`
  await sql`update backup set state = 'SUCCEEDED', proof_state = 'RUNNING' where id = ${id}`
  await sql`update backup set proof_state = 'PROVEN' where id = ${id}`
  await sql`update backup set restore_state = 'FAILED' where id = ${id}`
  await until('all changes', () => seen.length === 5)
  assert.deepEqual(
    seen.map(({ data }) => [data['state'], data['proof_state'], data['restore_state']]),
    [
      ['QUEUED', 'NONE', 'NONE'],
      ['RUNNING', 'NONE', 'NONE'],
      ['SUCCEEDED', 'RUNNING', 'NONE'],
      ['SUCCEEDED', 'PROVEN', 'NONE'],
      ['SUCCEEDED', 'PROVEN', 'FAILED'],
    ],
  )
  const { type, projectId, data } = seen[0] ?? {}
  assert.deepEqual(
    [type, projectId, data?.['backup_id'], data?.['service_id']],
    ['backup.status', place.environment.projectId, id, serviceId],
  )
})

test('the proof of a domain and the state of its certificate are changes of its service', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId, environmentId } = place.service
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(organizationOf(place), (change) => seen.push(change))
  const host = 'shop.example.org'
  await sql`
    insert into custom_domain (id, service_id, organization_id, created_at, updated_at, pending_since, domain,
    generate_certificate, use_cdn)
    values (${newId()}, ${serviceId}, ${organizationOf(place)}, now(), now(), now(), ${host}, true, false)`
  await sql`update custom_domain set asks = 2, asked_at = now()`
  await sql`update custom_domain set proof = 'TXT', proven_at = now()`
  await sql`
    insert into host_certificate (host, due_at, updated_at)
    values (${host}, now(), now()), ('other.example.org', now(), now())`
  await sql`update host_certificate set due_at = now() + interval '1 hour'`
  await sql`update host_certificate set finding = 'refused', failures = 1`
  await until('all changes', () => seen.length === 3)
  assert.deepEqual(
    seen.map(({ type, data }) => [type, data['subject'], data['service_id'], data['environment_id']]),
    ['CUSTOM_DOMAIN', 'CERTIFICATE', 'CERTIFICATE'].map((subject) => [
      ...['service.changed', subject, serviceId, environmentId],
    ]),
  )
})

test('changes of records are reported with their place, and not of an environment that is gone', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const { serviceId, environmentId, projectId } = place.service
  const at = { organizationId: organizationOf(place), subject: 'VARIABLE' }
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(at.organizationId, (change) => seen.push(change))
  await insertRecordChange(sql, { ...at, level: 'environment', environmentId: newId() })
  await insertRecordChange(sql, { ...at, level: 'service', environmentId, serviceId, kind: 'application' })
  await insertRecordChange(sql, { ...at, level: 'project', projectId })
  await insertRecordChange(sql, { ...at, level: 'organization', subject: 'WEBHOOK' })
  await until('all changes', () => seen.length === 3)
  assert.deepEqual(
    seen.map(({ type, mode, projectId: project, data: { at: _, organization_id: __, ...data } }) => [
      ...[type, mode, project, data],
    ]),
    [
      [
        ...['service.changed', 'STAGING', projectId],
        {
          ...{ project_id: projectId, environment_id: environmentId, service_id: serviceId },
          ...{ kind: 'application', subject: 'VARIABLE' },
        },
      ],
      ['project.changed', undefined, projectId, { project_id: projectId, subject: 'VARIABLE' }],
      ['organization.changed', undefined, undefined, { subject: 'WEBHOOK' }],
    ],
  )
})

test('the end of an environment is the only report for its services', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const seen: string[] = []
  await feedOf(sql, t).follow(organizationOf(place), ({ type }) => seen.push(type))
  await sql`delete from environment where id = ${place.environment.environmentId}`
  await until('the end of the environment', () => seen.length > 0)
  assert.deepEqual(seen, ['environment.deleted'])
})

test('a change that is committed after a later one is not skipped', async (t) => {
  const { sql, url } = await testDatabase(t)
  const place = await addPlace(sql)
  const second = await addService(sql, place.environment)
  const slow = openDatabase({ url, max: 1 })
  t.after(() => slow.end())
  const seen: StateChange[] = []
  await feedOf(sql, t).follow(organizationOf(place), (change) => seen.push(change))
  const hold = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const late = slow.begin(async (tx) => {
    await tx`update service set state = 'BUILDING' where id = ${place.service.serviceId}`
    written.resolve()
    await hold.promise
  })
  await written.promise
  await sql`update service set state = 'DEPLOYING' where id = ${second.serviceId}`
  await until('the change of the other service', () => seen.length === 1)
  hold.resolve()
  await late
  await until('the change that was committed later', () => seen.length === 2)
  assert.deepEqual(
    seen.map(({ data }) => data['service_id']),
    [second.serviceId, place.service.serviceId],
  )
  assert.ok(Number(seen[0]?.sequence) < Number(seen[1]?.sequence))
})

test('readers of two servers report the same order during many writes, and a returning follower misses nothing', async (t) => {
  const { sql, url } = await testDatabase(t)
  const place = await addPlace(sql)
  const services = await Promise.all(Array.from({ length: 6 }, () => addService(sql, place.environment)))
  const organization = organizationOf(place)
  const [one, two] = [feedOf(sql, t), feedOf(openOther(), t)]
  function openOther(): Database {
    const other = openDatabase({ url })
    t.after(() => other.end())
    return other
  }
  const lists: StateChange[][] = [[], []]
  const from = await one.follow(organization, (change) => lists[0]?.push(change))
  await two.follow(organization, (change) => lists[1]?.push(change))
  const rounds = 20
  await Promise.all(
    services.map(async ({ serviceId }) => {
      for (let round = 0; round < rounds; round++) {
        await sql`update service set state = ${round % 2 === 0 ? 'BUILDING' : 'DEPLOYING'} where id = ${serviceId}`
      }
    }),
  )
  await until('all changes', () => lists.every((list) => list.length >= rounds * services.length))
  const numbers = lists.map((list) => list.map(({ sequence }) => sequence))
  assert.deepEqual(numbers[0], numbers[1])
  assert.deepEqual(
    numbers[0],
    Array.from({ length: rounds * services.length }, (_, index) => from + 1 + index),
  )
  for (const { serviceId } of services) {
    const states = lists[0]?.filter(({ data }) => data['service_id'] === serviceId).map(({ data }) => data['state'])
    assert.deepEqual(
      states,
      Array.from({ length: rounds }, (_, round) => (round % 2 === 0 ? 'BUILDING' : 'DEPLOYING')),
    )
  }
  const again = await one.read(organization, from + 10, from + 15)
  assert.deepEqual(
    again.map(({ sequence }) => sequence),
    [11, 12, 13, 14, 15].map((place) => from + place),
  )
})

test('nothing is read while nobody follows, and the next follower starts with new changes', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  let pause = Promise.withResolvers<void>()
  const sleep = (): Promise<void> => {
    pause = Promise.withResolvers()
    return pause.promise
  }
  const tick = (): void => pause.resolve()
  const clock = { ...systemClock, sleep }
  const feed = createStateChanges({ database: sql, clock, log: silentLogger })
  const seen: string[] = []
  const listener = ({ data }: StateChange) => seen.push(data['state'] ?? '')
  const follow = () => feed.follow(organizationOf(place), listener)
  const unfollow = () => feed.unfollow(organizationOf(place), listener)
  await follow()
  unfollow()
  tick()
  await sql`update service set state = 'BUILDING'`
  assert.equal((await sql`select from state_change where sequence is null`).length, 1)
  await follow()
  await sql`update service set state = 'DEPLOYING'`
  tick()
  await until('the change', () => seen.length === 1)
  assert.deepEqual(seen, ['DEPLOYING'])
  unfollow()
  tick()
})

test('a nudged change is reported at once, not after the pause', async (t) => {
  const { sql } = await testDatabase(t)
  const place = await addPlace(sql)
  const seen: string[] = []
  const sleep = (_ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }))
  const feed = createStateChanges({ database: sql, clock: { ...systemClock, sleep }, log: silentLogger })
  t.after(() => feed.close())
  await feed.follow(organizationOf(place), ({ data }) => seen.push(data['state'] ?? ''))
  for (const state of ['BUILDING', 'DEPLOYING']) {
    await sql`update service set state = ${state} where id = ${place.service.serviceId}`
    feed.nudge()
    await until(`${state} is told`, () => seen.at(-1) === state)
  }
})

test('changes are deleted after a day, and a follower who missed some is notified', async (t) => {
  const { sql } = await testDatabase(t)
  await addPlace(sql)
  const feed = feedOf(sql, t)
  await sql`update service set state = 'BUILDING'`
  const clock = { ...systemClock, now: () => new Date(systemClock.now().getTime() + 23 * 3_600_000) }
  const signal = AbortSignal.timeout(60_000)
  await createStateChangePruner({ database: sql, clock }).reconcile(signal)
  assert.deepEqual(await feed.position(1), { after: 1, complete: true })
  clock.now = () => new Date(systemClock.now().getTime() + 25 * 3_600_000)
  await createStateChangePruner({ database: sql, clock }).reconcile(signal)
  assert.equal((await sql`select from state_change`).length, 0)
  assert.deepEqual(await feed.position(1), { after: 3, complete: false })
  assert.deepEqual(await feed.position(3), { after: 3, complete: true })
})

test('a number that was never assigned is not a valid position', () => {
  assert.deepEqual(positionOf(8, { last_sequence: 7, pruned_sequence: 0 }), { after: 7, complete: false })
})
