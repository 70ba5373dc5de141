import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// An image is built once and reused. The engine keeps one image as long as a service uses it.

let server: ServerProcess
let original: TestApplication

before(async () => {
  server = await startServer()
  const environmentId = await makeEnvironment(server, 'staging')
  original = await makeApplication(server, { environmentId, name: 'web' })
})
after(async () => {
  await original?.git.remove()
  await server?.close()
})

/** Returns the id of the image that a service runs. */
async function runningImage(service: string): Promise<string | undefined> {
  const container = await until('a container of the service runs', async () => {
    const found = await server.engine.containersWith(`quayside.service=${service}`)
    const [running, ...others] = found.filter(({ State }) => State === 'running')
    return others.length === 0 ? running : undefined
  })
  return Object(await server.engine.ask('GET', `/containers/${container.Id}/json`)).Image
}
async function settles(service: string): Promise<void> {
  const seen = await until(
    'the service is settled',
    async () => {
      const [row] = await server.sql<{ state: string; waits: boolean }[]>`
      select s.state, exists (select from deployment_target t where t.service_id = s.id
      and t.finished_at is null) as waits
      from service s where s.id = ${service}`
      return row?.waits === false ? row : undefined
    },
    { limitMs: 60_000 },
  )
  assert.match(seen.state, /^(DEPLOYED|RESTARTED)$/)
}

test('a copy restarts on and rolls back to the image of a deleted original after the disk was cleaned', async () => {
  await original.run(web('the first'))
  const image = await runningImage(original.id)
  assert.match(image ?? '', /^sha256:/)

  const { id: copy } = await server.must<{ id: string }>('POST', `/environment/${original.environmentId}/clone`, {
    name: 'production',
  })
  await until('the copy is complete', async () => {
    return (await server.sql`select from environment where id = ${copy} and copying is null`).length === 1
  })
  const [service] = (await server.must<{ results: { id: string }[] }>('GET', `/environment/${copy}/application`))
    .results
  assert.ok(service)
  const act = async (path: string, body: object = {}) => {
    await server.must('POST', `/application/${service.id}/${path}`, body)
    await settles(service.id)
  }
  await act('deploy')
  assert.equal(await runningImage(service.id), image)
  const [first] = await server.sql<{ execution_id: string }[]>`
    select execution_id from deployment_request where environment_id = ${copy} order by seq desc limit 1`
  const steps = await server.sql<
    { name: string }[]
  >`select name from workflow_step where name like ${`${service.id}/%`}`
  assert.ok(!steps.some(({ name }) => name.endsWith('/BUILD')), steps.map(({ name }) => name).join())

  await original.git.push(web('the second'))
  await act('deploy')
  const second = await runningImage(service.id)
  assert.notEqual(second, image)
  await server.must('DELETE', `/environment/${original.environmentId}`)
  await until('the original is gone', async () => {
    return (await server.sql`select from service where id = ${original.id}`).length === 0
  })
  assert.deepEqual(await server.engine.imagesOf(original.id), [])
  // The disk keeper measures at each start and removes what nothing uses.
  const [before] = await server.sql<{ now: Date }[]>`select now()`
  assert.ok(before)
  await server.restart()
  await until(
    'the disk was measured',
    async () => (await server.sql`select from disk_usage where measured_at > ${before.now}`).length === 1,
    { limitMs: 90_000 },
  )
  await act('restart-service')
  assert.equal(await runningImage(service.id), second)
  await act('rollback', { execution_id: first?.execution_id })
  assert.equal(await runningImage(service.id), image)
  await server.must('DELETE', `/environment/${copy}`)
  await until('no service has the image', async () => {
    return (await server.engine.ask('GET', `/images/${image}/json`)) === undefined
  })
})
