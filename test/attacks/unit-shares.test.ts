import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** A change holds a connection until it ends. No organization may hold all connections. */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform

test('dry runs of an organization that wait for a lock leave connections to another organization', async () => {
  const { applicationId } = a.objects
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = database.begin(async (sql) => {
    await sql`select from service where id = ${applicationId} for update`
    locked.resolve()
    await release.promise
  })
  await locked.promise
  const path = `/application/${applicationId}?dry_run=true`
  const dryRuns = Array.from({ length: 12 }, () => call(a.tokens.WRITE, 'PUT', path, { cpu: 250 }))
  await until('dry runs hold their share of the connections', async () => {
    const rows = await database`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return rows.length >= 4
  })
  try {
    const changed = await call(b.tokens.WRITE, 'PUT', `/application/${b.objects.applicationId}`, { cpu: 250 })
    assert.equal(changed.status, 200, changed.text)
  } finally {
    release.resolve()
    await holding
  }
  assert.ok((await Promise.all(dryRuns)).every(({ status }) => status === 200 || status === 503))
})
