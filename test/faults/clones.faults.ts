import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { nothingWorks } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { counting } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A server that is killed at any step of a copy with data completes the copy after its next start
// and leaves nothing paused.

let server: ServerProcess
let application: TestApplication
let environmentId: string

before(async () => {
  server = await startServer()
  environmentId = await makeEnvironment(server, 'source')
  const storage = [{ mount_point: '/data', size: 4, type: 'FAST_SSD' }]
  application = await makeApplication(server, { environmentId, name: 'counter', settings: { storage } })
  await application.run(counting())
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const instance = () => `quayside.instance=${server.instance}`
const standing = async () =>
  (await server.engine.containersWith(instance())).filter(({ State }) => State === 'paused' || State === 'created')
const copyOf = async (name: string) =>
  (await server.sql<{ id: string }[]>`select id from environment where name = ${name}`)[0]?.id
const isWhole = (id: string) =>
  until(
    'the copy is complete',
    async () => (await server.sql`select from environment where id = ${id} and copying is null`).length === 1,
    { limitMs: 60_000 },
  )

for (const point of ['workflow.claimed', 'copy.paused', 'copy.copied', 'copy.ended'] as const) {
  test(`a server killed at ${point} completes the copy`, async () => {
    const name = `copy at ${point}`
    await nothingWorks(server)
    await server.restart({ failpoint: `${point}:kill` })
    await server.must('POST', `/environment/${environmentId}/clone`, { name, with_data: true }).catch(() => {})
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    const id = await copyOf(name)
    assert.ok(id, 'the copy was accepted')
    await isWhole(id)
    const services = await server.sql<{ id: string }[]>`select id from service where environment_id = ${id}`
    assert.equal(services.length, 1)
    assert.equal((await server.engine.volumesWith(instance(), `quayside.environment=${id}`)).length, 1)
    assert.deepEqual(await standing(), [])
    assert.equal((await application.answer()).status, 200)
  })
}

test('a server killed during a copy that is deleted meanwhile resumes the source', async () => {
  await nothingWorks(server)
  await server.restart({ failpoint: 'copy.paused:kill' })
  await server.must('POST', `/environment/${environmentId}/clone`, { name: 'unwanted', with_data: true })
  await server.exited()
  await server.sql`delete from environment where name = 'unwanted'`
  await server.restart()
  await until(
    'the source answers',
    async () => (await get(application.url).catch(() => ({ status: 0 }))).status === 200,
    {
      limitMs: 30_000,
    },
  )
  await until('nothing is paused', async () => (await standing()).length === 0, { limitMs: 30_000 })
})

test('a copy completed after a kill has both files from the same moment', async () => {
  const id = await copyOf('copy at copy.paused')
  await server.must('POST', `/environment/${id}/deploy`)
  const [service] = (await server.must<{ results: { id: string }[] }>('GET', `/environment/${id}/application`)).results
  const isUp = async () =>
    (await server.sql`select from service where id = ${service?.id ?? ''} and state = 'DEPLOYED'`).length === 1
  await until('the copy is running', isUp, { limitMs: 60_000 })
  const links = await server.must<{ results: { url: string }[] }>('GET', `/application/${service?.id}/link`)
  const [first = 0, second = 0] = (await get(links.results[0]?.url ?? '')).body.split(' ').map(Number)
  assert.ok(first > 0 && (first === second || first === second + 1), `${first} ${second}`)
})
