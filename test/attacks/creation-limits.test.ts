import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { addMember } from '../../server/access/index.ts'
import { newId } from '../../server/lib/id.ts'
import {
  creationLimitOf,
  type LimitKind,
  limitKinds,
  saveCreationLimits,
  usualLimits,
} from '../../server/limits/index.ts'
import { addPerson, signIn } from '../support/people.ts'
import { type Answer, createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'
import { type Creation, creationsOf } from './creations.ts'

/** Group N: whether one organization can make the platform large for others. */

const platform = await createPlatform({ after })
const { a, call, database } = platform
const objects = await platform.addObjects(a)
const { environmentId, applicationId } = objects
/** More than may be created. */
const tries = 8
const domains = Array.from({ length: tries }, () => newId())
await database`
  insert into custom_domain (id, service_id, organization_id, created_at, updated_at, domain, generate_certificate,
    use_cdn, pending_since)
  select id, ${applicationId}, ${a.organizationId}, now(), now(), 'c' || left(id::text, 8) || position
    || '.shops.example.org', false, false, now()
  from unnest(${domains}::uuid[]) with ordinality as one (id, position)`
const creations = creationsOf(objects, domains)

const countOf = async (counted: readonly string[]): Promise<number> => {
  const sum = counted.map((from) => `(select count(*) from ${from})`).join(' + ')
  const [row] = await database.unsafe<{ count: number }[]>(`select (${sum})::int as count`)
  return row?.count ?? 0
}
const numberOf = (kind: keyof typeof creations): Promise<number> => countOf(creations[kind].counted)

/** Sets one limit. The others are as usual. */
const limit = (kind: LimitKind, most: number): Promise<void> =>
  saveCreationLimits(database, { ...usualLimits, [kind]: most })

/** Asserts that three of several requests at once succeeded, and that the others name the limit. */
function assertBounded(kind: LimitKind, most: number, answers: readonly Answer[]): void {
  const ends = answers.map(({ status }) => (status < 300 ? 'created' : status)).toSorted()
  const texts = answers.map(({ text }) => text).join('\n')
  assert.deepEqual(ends, [...Array(tries - 3).fill(409), ...Array(3).fill('created')], texts)
  const { noun, setting, of } = creationLimitOf(kind)
  const reason = `${of} has at most ${most} ${noun} (${setting}). Delete some of them first.`
  const refused = answers.filter(({ status }) => status === 409)
  assert.ok(
    refused.every(({ text }) => text.includes(reason)),
    texts,
  )
}

for (const [kind, { counted, path, body, ...one }] of Object.entries<Creation>(creations)) {
  const limited = limitKinds.find((known) => known === kind)
  test(`N39 requests at the same time create no more ${kind} than there may be`, async () => {
    assert.ok(limited)
    const most = (await countOf(counted)) + 3
    await limit(limited, most)
    const answers = await Promise.all(
      Array.from({ length: tries }, (_, count) => call(a.tokens.ADMIN, one.method ?? 'POST', path(count), body(count))),
    )
    assertBounded(limited, most, answers)
    assert.equal(await countOf(counted), most)
    await saveCreationLimits(database, usualLimits)
  })
}

test('every kind of limit is tried', () => {
  // The tests below try the others.
  const tried = [...Object.keys(creations), 'organizations', 'backups', 'waitingRequests']
  assert.deepEqual(tried.toSorted(), limitKinds.toSorted())
})

test('N42 a person owns no more organizations than one may, also by a transfer', async () => {
  const member = { organizationId: a.organizationId, role: 'ADMIN' as const }
  const [person, other] = [
    await addPerson(database, { email: 'founder@a.example', member }),
    await addPerson(database, { email: 'other@a.example', member }),
  ]
  const [token, otherToken] = [await signIn(platform, person.id), await signIn(platform, other.id)]
  const create = (by: string, name: string) => call(by, 'POST', '/organization', { name, plan: 'FREE' })
  await limit('organizations', 3)
  const answers = await Promise.all(Array.from({ length: tries }, (_, count) => create(token, `founded ${count}`)))
  assertBounded('organizations', 3, answers)
  const theirs = await create(otherToken, 'of another person')
  const { id } = Object(theirs.body)
  await addMember(
    database,
    { organization_id: id, account_id: person.id, role: 'ADMIN', custom_role_id: null },
    new Date(),
  )
  const transfer = () => call(otherToken, 'POST', `/organization/${id}/transferOwnership`, { user_id: person.id })
  const refused = await transfer()
  assert.equal(refused.status, 409, refused.text)
  assert.match(refused.text, /A person has at most 3 organizations \(QUAYSIDE_MOST_ORGANIZATIONS\)/)
  await saveCreationLimits(database, usualLimits)
  const moved = await transfer()
  assert.ok(moved.status < 300, moved.text)
})

test('N43 a service has no more backups than it may', async () => {
  const storage = [{ id: applicationId, mount_point: '/data', size: 4, type: 'FAST_SSD' }]
  await database`update service set state = 'STOPPED', last_deployment_date = now(),
    settings = settings || ${database.json({ storage })} where id = ${applicationId}`
  const most = (await countOf([`backup where service_id = '${applicationId}'`])) + 1
  await limit('backups', most)
  const back = () => call(a.tokens.ADMIN, 'POST', `/application/${applicationId}/backup`, {})
  const first = await back()
  assert.ok(first.status < 300, first.text)
  await database`update backup set state = 'FAILED' where service_id = ${applicationId}`
  const second = await back()
  assert.deepEqual(
    [second.status, /A service has at most \d+ backups \(QUAYSIDE_MOST_BACKUPS\)/.test(second.text)],
    [409, true],
    second.text,
  )
  await saveCreationLimits(database, usualLimits)
})

test('N46 an environment has no more waiting deployments than it may', async () => {
  const { environmentId, more } = await platform.addObjects(a)
  const waiting = `deployment_request where environment_id = '${environmentId}' and status = 'QUEUED'`
  const most = (await countOf([waiting])) + 3
  await limit('waitingRequests', most)
  const run = () => call(a.tokens.ADMIN, 'POST', `/job/${more['jobId']}/deploy?forceEvent=CRON`, {})
  assertBounded('waitingRequests', most, await Promise.all(Array.from({ length: tries }, run)))
  assert.equal(await countOf([waiting]), most)
  await saveCreationLimits(database, usualLimits)
})

test('N44 an import creates all of its variables or none, and counts each', async () => {
  const scope = `variable where service_id = '${applicationId}'`
  const before = await countOf([scope])
  await limit('variables', before + 2)
  const vars = ['A', 'B', 'C'].map((key) => ({
    name: `IMPORTED_${key}`,
    value: 'a',
    scope: 'APPLICATION',
    is_secret: false,
  }))
  const send = (some: typeof vars) =>
    call(a.tokens.ADMIN, 'POST', `/application/${applicationId}/environmentVariable/import`, {
      overwrite: true,
      vars: some,
    })
  const refused = await send(vars)
  assert.equal(refused.status, 409, refused.text)
  assert.equal(await countOf([scope]), before)
  const sent = await send(vars.slice(0, 2))
  assert.ok(sent.status < 300, sent.text)
  const replaced = await send(vars.slice(0, 2))
  assert.ok(replaced.status < 300, replaced.text)
  assert.equal(await countOf([scope]), before + 2)
  await saveCreationLimits(database, usualLimits)
})

test('N45 a copy of a service gets no more variables and restrictions than it may', async () => {
  const copy = (name: string) =>
    call(a.tokens.ADMIN, 'POST', `/application/${applicationId}/clone`, { name, environment_id: environmentId })
  for (const kind of ['variables', 'restrictions'] as const) {
    const count = await numberOf(kind)
    await limit(kind, count - 1)
    const refused = await copy(`too large by ${kind}`)
    const { noun, setting } = creationLimitOf(kind)
    assert.equal(refused.status, 409, refused.text)
    assert.ok(refused.text.includes(`has at most ${count - 1} ${noun} (${setting})`), refused.text)
    await limit(kind, count)
    const made = await copy(`with all ${kind}`)
    assert.ok(made.status < 300, made.text)
  }
  await saveCreationLimits(database, usualLimits)
})

test('N40 a copy of an environment creates no more services than an organization may have', async () => {
  const copy = (name: string) => call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/clone`, { name })
  const before = await numberOf('services')
  await saveCreationLimits(database, { ...usualLimits, services: before + 1 })
  const { status, text } = await copy('too many')
  assert.deepEqual([status, /at most/.test(text)], [409, true], text)
  assert.equal(await numberOf('services'), before)
  await saveCreationLimits(database, usualLimits)
  assert.equal((await copy('enough')).status, 202)
})

test('N41 a copy whose room is taken meanwhile fails with the reason', async (t) => {
  const working = await createPlatform(t, { works: true })
  const { a: owner, database: sql } = working
  const source = (await working.addObjects(owner)).environmentId
  const { promise: isHeld, resolve: held } = Promise.withResolvers<void>()
  const { promise: isFree, resolve: release } = Promise.withResolvers<void>()
  // The copy waits for its source.
  const holding = sql.begin(async (inner) => {
    await inner`select from environment where id = ${source} for update`
    held()
    await isFree
  })
  await isHeld
  const answer = await working.call(owner.tokens.ADMIN, 'POST', `/environment/${source}/clone`, { name: 'late' })
  assert.equal(answer.status, 202, answer.text)
  await saveCreationLimits(sql, { ...usualLimits, services: 1 })
  release()
  await holding
  const { id } = Object(answer.body)
  const ended = await until('the copy has ended', async () => {
    const [row] = await sql<{ status: string; reason: string | null }[]>`
      select status, reason from copy_record where id = ${id} and status <> 'ONGOING'`
    return row
  })
  assert.equal(ended.status, 'ERROR')
  assert.match(ended.reason ?? '', /at most 1 services \(QUAYSIDE_MOST_SERVICES\)/)
  assert.equal((await sql`select from environment where id = ${id}`).length, 0)
})
