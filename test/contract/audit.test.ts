import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { serviceTypes } from '../../contract/enums.ts'
import { reportOf } from '../../server/http/change-events.ts'
import { laterReports } from '../structure/change-reports.ts'
import { canaryOf, type Objects } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'
import { goodRequest, idsOf, operations, pathOf, queryOf } from './requests.ts'

/**
 * Every writing operation leaves exactly one row in the record of changes, with its type and the
 * object that it changed, and the stream of the organization reports it.
 */
const platform = await createPlatform({ after }, { works: true })
const { a, call, database } = platform
await platform.addRepository(a)

const rowsOf = (requestId: unknown) => database`select * from audit_event where request_id = ${String(requestId)}`
const levels = [...serviceTypes, 'ENVIRONMENT', 'PROJECT', 'ORGANIZATION']

/** Operations whose objects are limited in number per organization. */
async function removeLimited({ webhookId, more }: Objects): Promise<void> {
  await database`delete from webhook where id = ${webhookId}`
  await database`delete from container_registry where id = ${more['containerRegistryId'] ?? null}`
  await database`delete from helm_repository where id = ${more['helmRepositoryId'] ?? null}`
}

interface Reported {
  readonly type: string
  readonly organization_id: string
}
const lastReport = async (): Promise<string> =>
  String((await database`select coalesce(max(id), 0) as id from state_change`)[0]?.['id'])
const reportsSince = (id: string) => database<Reported[]>`
  select type, organization_id from state_change where id > ${id} order by id`

for (const [name, operation] of operations) {
  const { event } = operation
  if (!event) continue

  test(`${name}: one row in the record of changes, or none where it is refused`, async () => {
    const good = goodRequest(name)
    const fresh = await platform.addObjects(a)
    const objects = { ...fresh, ...(await good.prepare?.(platform, fresh)) }
    const { body: given, query, refused } = goodRequest(name, objects)
    const body = typeof given === 'object' && 'name' in given ? { ...given, name: `record ${name}` } : given
    const path = `${pathOf(operation, idsOf(operation, objects))}${queryOf({ ...good, ...(query && { query }) })}`
    const token = (await good.credential?.(platform, objects)) ?? a.tokens.ADMIN
    const last = await lastReport()
    const answer = await call(token, operation.method, path, body, { 'user-agent': 'CLI 1.2.3' })
    const reported = await reportsSince(last)
    const rows = await rowsOf(answer.headers['x-request-id'])
    await removeLimited(fresh)
    if (refused) return assert.equal(rows.length, 0)
    assert.ok(answer.status < 300, answer.text)
    assert.equal(rows.length, 1)
    const [row] = rows
    assert.ok(row)
    assert.equal(row['event_type'], event.type)
    assert.equal(row['sub_target_type'], event.sub ?? null)
    assert.ok(event.target === 'SERVICE' ? levels.includes(row['target_type']) : row['target_type'] === event.target)
    assert.ok(row['target_id'], 'the row does not name the changed object')
    assert.ok(row['organization_id'])
    assert.deepEqual([row['origin'], row['user_agent']], ['CLI', 'CLI 1.2.3'])
    assert.ok(row['triggered_by'])
    JSON.parse(row['change'])
    const report = reportOf(event.type, event.target)
    const types = reported.filter((one) => one.organization_id === row['organization_id']).map(({ type }) => type)
    if (report === 'changed')
      assert.ok(
        types.some((type) => type.endsWith('.changed')),
        types.join(),
      )
    if (report === 'states' && !Object.hasOwn(laterReports, name)) assert.notDeepEqual(types, [])
    assert.doesNotMatch(`${row['change']}${row['original_change']}`, new RegExp(canaryOf(a)))
  })
}
