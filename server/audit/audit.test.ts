import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { newId } from '../lib/id.ts'
import { addPlace } from '../variables/testing.ts'
import { createAudit, findPlace, recordChange, recordChangeWith } from './index.ts'
import { readMoment } from './moment.ts'
import { sampleEntry } from './testing.ts'

const publicUrl = 'https://quayside.example'
const searchOf = (link: string | undefined) => Object.fromEntries(new URL(link ?? '').searchParams)

test('pages link to older and newer events', async (t) => {
  const { sql } = await testDatabase(t)
  const organizationId = newId()
  for (let n = 1; n <= 25; n++) {
    // Several in the same millisecond.
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(n / 4)))
    await recordChange(sql, sampleEntry(organizationId, { target_name: `${n}`, created_at, triggered_by: 'ann' }))
  }
  await recordChange(sql, sampleEntry(organizationId, { triggered_by: 'bob' }))
  const audit = createAudit({ database: sql, publicUrl })
  const names = (page: Awaited<ReturnType<typeof audit.events>>) =>
    page.events.map((event) => Number(event.target_name))
  const first = await audit.events(organizationId, { triggeredBy: 'ann' })
  assert.deepEqual(names(first), [25, 24, 23, 22, 21, 20, 19, 18, 17, 16])
  assert.equal(first.links.previous, undefined)
  assert.ok(first.links.next?.startsWith(`${publicUrl}/organization/${organizationId}/events?`))
  const second = await audit.events(organizationId, { ...searchOf(first.links.next), pageSize: 10 })
  assert.deepEqual(names(second), [15, 14, 13, 12, 11, 10, 9, 8, 7, 6])
  const third = await audit.events(organizationId, { ...searchOf(second.links.next), pageSize: 10 })
  assert.deepEqual([names(third), third.links.next], [[5, 4, 3, 2, 1], undefined])
  const back = await audit.events(organizationId, { ...searchOf(third.links.previous), pageSize: 10 })
  assert.deepEqual(names(back), names(second))
  const start = await audit.events(organizationId, { ...searchOf(back.links.previous), pageSize: 10 })
  assert.deepEqual([names(start), start.links.previous], [names(first), undefined])
  for (const continueToken of ['x', '1_2', `${'9'.repeat(20)}_${newId()}`]) {
    await assert.rejects(audit.events(organizationId, { continueToken }), /^AppError: continueToken must be/)
  }
})

test('events are filtered by time, type, target and place, and never from another organization', async (t) => {
  const { sql } = await testDatabase(t)
  const [organizationId, other, projectId, environmentId] = [newId(), newId(), newId(), newId()]
  const place = { project_id: projectId, project_name: 'Shop', environment_id: environmentId, environment_name: 'prod' }
  const target_id = newId()
  await recordChange(
    sql,
    sampleEntry(organizationId, {
      ...place,
      event_type: 'CREATE',
      target_type: 'APPLICATION',
      target_id,
      target_name: 'old',
    }),
  )
  const created_at = new Date('2026-02-01T00:00:00Z')
  await recordChange(
    sql,
    sampleEntry(organizationId, {
      ...place,
      created_at,
      target_type: 'APPLICATION',
      sub_target_type: 'VARIABLE',
      target_id,
      target_name: 'new',
    }),
  )
  await recordChange(sql, sampleEntry(organizationId, { created_at, origin: 'CLI' }))
  await recordChange(sql, sampleEntry(other))
  const audit = createAudit({ database: sql, publicUrl })
  const count = async (query: Parameters<typeof audit.events>[1]) =>
    (await audit.events(organizationId, query)).events.length
  assert.equal(await count({}), 3)
  assert.equal(await count({ fromTimestamp: '2026-01-15T00:00:00Z' }), 2)
  assert.equal(await count({ toTimestamp: String(Date.UTC(2026, 0, 15) / 1000) }), 1)
  assert.equal(await count({ eventType: 'CREATE' }), 1)
  assert.equal(await count({ targetId: target_id, targetType: 'APPLICATION' }), 2)
  assert.equal(await count({ subTargetType: 'VARIABLE' }), 1)
  assert.equal(await count({ serviceProjectId: projectId, serviceEnvironmentId: environmentId }), 2)
  assert.equal(await count({ origin: 'CLI' }), 1)
  assert.equal(await count({ triggeredBy: 'nobody' }), 0)
  const targets = async (query: Parameters<typeof audit.targets>[1]) =>
    (await audit.targets(organizationId, query)).targets
  assert.deepEqual(await targets({ targetType: 'APPLICATION' }), [{ id: target_id, name: 'new' }])
  assert.deepEqual(await targets({ targetLevelToFetch: 'PROJECT' }), [{ id: projectId, name: 'Shop' }])
  assert.deepEqual(await targets({ targetLevelToFetch: 'ENVIRONMENT', projectId }), [
    { id: environmentId, name: 'prod' },
  ])
})

test('a change is written in its transaction, or as a part of its statement', async (t) => {
  const { sql } = await testDatabase(t)
  const { organizationId, projectId, environmentId, serviceId } = (await addPlace(sql)).service
  const entry = sampleEntry(organizationId, { project_id: projectId, environment_id: environmentId })
  const undone = sql.begin(async (tx) => {
    await recordChange(tx, entry)
    throw new Error('undone')
  })
  await assert.rejects(undone, /undone/)
  for (const name of ['nobody', 'x']) {
    await sql`
      with changed as (update project set description = 'new' where id = ${projectId} and ${name} = 'x' returning 1),
      recorded as (${recordChangeWith(sql, entry, sql`changed`)}) select`
  }
  const place = await findPlace(sql, serviceId)
  const rows = await sql`select project_name, environment_name from audit_event`
  assert.deepEqual(
    rows.map((row) => ({ ...row })),
    [{ project_name: place?.project?.name, environment_name: place?.environment?.name }],
  )
  assert.equal(place?.service?.kind, 'application')
  assert.equal((await findPlace(sql, environmentId))?.service, undefined)
  assert.equal((await findPlace(sql, projectId))?.organization?.id, organizationId)
  assert.equal(await findPlace(sql, newId()), undefined)
})

test('a time is RFC 3339 or a number since 1970, in seconds to nanoseconds', () => {
  const moment = Date.UTC(2026, 0, 31, 12)
  const texts = [
    '2026-01-31T12:00:00Z',
    '2026-01-31T13:00:00+01:00',
    '1769860800',
    '1769860800000',
    '1769860800000000',
    '1769860800000000000',
  ]
  for (const text of texts) assert.equal(readMoment('fromTimestamp', text)?.getTime(), moment, text)
  for (const text of ['yesterday', '2026-13-01', '-1', '1e3', '99999999999999999999']) {
    assert.throws(() => readMoment('fromTimestamp', text), /^AppError: fromTimestamp must be a time/, text)
  }
})
