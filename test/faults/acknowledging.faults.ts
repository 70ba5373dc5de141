import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// An acknowledged request survives a kill. Any other request is stored completely or not at all,
// and may be sent again under its key.

const { server, application } = await startWebServer({ after }, web('first'))

/** Sends a POST under a key. Returns undefined if no answer arrives. */
async function send(path: string, body: object, key: string): Promise<{ status: number; text: string } | undefined> {
  const headers = {
    authorization: `Token ${server.token}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  const options = { method: 'POST', headers, body: JSON.stringify(body), signal: AbortSignal.timeout(20_000) }
  try {
    const answer = await fetch(`${server.apiUrl.replace('localhost', '127.0.0.1')}${path}`, options)
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  }
}
const count = async (): Promise<number> =>
  (await server.sql`select from deployment_target where service_id = ${application.id}`).length
const deployPath = (): string => `/application/${application.id}/deploy`

test('a server killed before it stores a request stores nothing and accepts the request again', async () => {
  const before = await count()
  let sent: ReturnType<typeof send> | undefined
  await server.sql.begin(async (sql) => {
    await sql`select from environment where id = ${application.environmentId} for update`
    sent = send(deployPath(), {}, 'key-1')
    await until('the request waits for the environment', async () => {
      const waiting = await server.sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return waiting.length > 0
    })
    await server.kill9()
  })
  assert.equal(await sent, undefined)
  await server.restart()
  assert.equal(await count(), before)
  const again = await send(deployPath(), {}, 'key-1')
  assert.equal(again?.status, 202, again?.text)
  assert.equal((await application.settles()).state, 'RUNNING')
  assert.equal(await count(), before + 1)
})

test('a server killed before it answers gives the same answer to the same key and deploys once', async () => {
  const before = await count()
  await server.restart({ failpoint: 'request.committed:kill' })
  assert.equal(await send(deployPath(), {}, 'key-2'), undefined)
  assert.equal((await server.exited()).signal, 'SIGKILL')
  await server.restart()
  const [first, second] = [await send(deployPath(), {}, 'key-2'), await send(deployPath(), {}, 'key-2')]
  assert.equal(first?.status, 202, first?.text)
  assert.deepEqual(second, first)
  assert.equal((await application.settles()).state, 'RUNNING')
  assert.equal(await count(), before + 1)
})

test('an import of ten thousand variables that is interrupted at any moment is stored completely or not at all', async (t) => {
  const vars = Array.from({ length: 10_000 }, (_, n) => ({
    name: `KEY_${n}`,
    value: `value ${n}`,
    scope: 'APPLICATION',
    is_secret: n % 2 === 0,
  }))
  const path = `/application/${application.id}/environmentVariable/import`
  const written = async (): Promise<number> =>
    (await server.sql`select from variable where service_id = ${application.id} and key like 'KEY_%'`).length
  const seen: number[] = []
  for (const [round, everyMs] of [1, 3, 10].entries()) {
    await server.sql`delete from variable where service_id = ${application.id} and key like 'KEY_%'`
    const sent = send(path, { overwrite: true, vars }, `import-${round}`)
    await until(
      'the import writes, or has ended',
      async () => {
        const [row] = await server.sql<{ writing: number }[]>`
        select count(*)::int as writing from pg_stat_activity
        where datname = current_database() and query ilike '%insert into variable%' and state <> 'idle'`
        const ended = await Promise.race([sent.then(() => true), Promise.resolve(false)])
        return ended || (row?.writing ?? 0) > 0
      },
      { everyMs },
    )
    await server.kill9()
    const answer = await sent
    await server.restart()
    const there = await written()
    assert.ok(there === 0 || there === 10_000, `${there} of 10,000`)
    if (answer?.status === 201) assert.equal(there, 10_000)
    seen.push(there)
  }
  t.diagnostic(`written: ${seen.join(', ')}`)
})

test('a copy of an environment that is interrupted is empty at first and complete after the next start', async () => {
  const source = application.environmentId
  const vars = Array.from({ length: 500 }, (_, n) => ({
    name: `COPIED_${n}`,
    value: 'text',
    scope: 'APPLICATION',
    is_secret: false,
  }))
  await server.must('POST', `/application/${application.id}/environmentVariable/import`, { overwrite: true, vars })
  const facts = async (id: string) => {
    const [row] = await server.sql<{ services: number; variables: number; isWhole: boolean }[]>`
      select count(distinct s.id)::int as services, count(v.id)::int as variables,
        (select copying is null from environment where id = ${id}) as "isWhole"
      from service s left join variable v on v.service_id = s.id and v.key like 'COPIED_%'
      where s.environment_id = ${id}`
    return row
  }
  let id = ''
  await server.sql.begin(async (sql) => {
    // The last write of the copy waits, and the earlier ones are not committed.
    await sql`lock table variable in share mode`
    const copy = await server.must<{ id: string }>('POST', `/environment/${source}/clone`, { name: 'copy one' })
    id = copy.id
    await until('the copy waits', async () => {
      const waiting = await server.sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      return waiting.length > 0
    })
    assert.deepEqual(await facts(id), { services: 0, variables: 0, isWhole: false })
    await server.kill9()
  })
  await server.restart()
  await until('the copy is complete', async () => (await facts(id))?.isWhole)
  assert.deepEqual(await facts(id), { services: 1, variables: 500, isWhole: true })
})
