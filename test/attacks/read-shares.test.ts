import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '../../server/database/index.ts'
import { createPlatform } from '../support/platform.ts'
import { until } from '../support/until.ts'

/** Slow statements of one organization must not delay the fast ones of another. */
const platform = await createPlatform({ after })
const { a, b, call, databaseUrl } = platform
const database = openDatabase({ url: databaseUrl, name: 'holder' })
after(() => database.end())
const another = b.tokens.READ
const small = `/application/${b.objects.applicationId}/environmentVariable`

/** Holds a lock of PostgreSQL until the returned function is called. */
async function hold(lock: string): Promise<() => Promise<void>> {
  const [locked, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = database.begin(async (sql) => {
    await sql.unsafe(lock)
    locked.resolve()
    await release.promise
  })
  await locked.promise
  return async () => {
    release.resolve()
    await holding
  }
}

const someWait = (least: number) =>
  until('statements wait for the lock', async () => {
    const rows = await database`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return rows.length >= least
  })

/** Asserts that small reads of B finish while requests of A wait for the lock. */
async function overtakes(lock: string, slow: () => readonly [method: string, path: string]): Promise<void> {
  const release = await hold(lock)
  const answered: string[] = []
  const asked = Array.from({ length: 40 }, async () => {
    const [method, path] = slow()
    const { status } = await call(a.tokens.ADMIN, method, path)
    answered.push('a')
    return status
  })
  try {
    await someWait(3)
    for (let read = 0; read < 5; read++) {
      const { status, text } = await call(another, 'GET', small)
      assert.equal(status, 200, text)
      answered.push('b')
    }
    assert.deepEqual(answered, ['b', 'b', 'b', 'b', 'b'])
  } finally {
    await release()
    const statuses = await Promise.all(asked)
    assert.ok(statuses.every((status) => status < 300 || status === 409 || status === 503, String(statuses)))
  }
}

test('slow reads of an organization leave connections to the reads of another', () => {
  let reads = 0
  return overtakes('lock table deployment_request in access exclusive mode', () => [
    'GET',
    // Equal reads would share one statement, and occupy one connection.
    `/environment/${a.objects.environmentId}/deploymentHistoryV2?pageSize=${++reads}`,
  ])
})

test('deployments of an organization that wait for a lock leave connections to the reads of another', () =>
  overtakes(`select from service where id = '${a.objects.applicationId}' for update`, () => [
    'POST',
    `/application/${a.objects.applicationId}/deploy`,
  ]))
