import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DockerEngine } from '../../server/engines/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { counting } from '../support/trees.ts'
import { until } from '../support/until.ts'

// An environment is copied with its data while its application and its PostgreSQL are written to.
// Needs the database images (`npm run images`).

let server: ServerProcess
let application: TestApplication
let environmentId: string
let engine: DockerEngine
const limit = () => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer()
  engine = new DockerEngine({ socketPath: server.engine.socketPath, instance: server.instance, clock: systemClock })
  environmentId = await makeEnvironment(server, 'source')
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const stateOf = async (environment: string) => {
  const { environment: status } = await server.must<{ environment: { state: string } }>(
    'GET',
    `/environment/${environment}/statuses`,
  )
  return status.state
}
const isDeployed = (environment: string) =>
  until('the environment is running', async () => (await stateOf(environment)) === 'DEPLOYED', { limitMs: 90_000 })
const servicesOf = async (environment: string, kind: string) =>
  (await server.must<{ results: { id: string }[] }>('GET', `/environment/${environment}/${kind}`)).results.map(
    ({ id }) => id,
  )
/** Runs SQL as the owner inside the container. The network requires a password. */
const sql = async (database: string, statement: string, password?: string) => {
  const over = password === undefined ? '' : `PGPASSWORD='${password}' `
  const host = password === undefined ? '' : '--host="$HOSTNAME" '
  const command = `${over}psql ${host}--username=root --dbname=postgres -AtXqc ${JSON.stringify(statement)}`
  const { exitCode, output } = await engine.exec(database, ['sh', '-c', command], limit())
  return exitCode === 0 ? output.trim() : Promise.reject(new Error(output))
}

test('a copy with data is consistent and independent of its source', async () => {
  const { id: source } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/database`, {
    name: 'store',
    type: 'POSTGRESQL',
    version: '15',
    mode: 'CONTAINER',
  })
  const storage = [{ mount_point: '/data', size: 4, type: 'FAST_SSD' }]
  application = await makeApplication(server, { environmentId, name: 'counter', settings: { storage } })
  await application.git.push(counting())
  await server.must('POST', `/environment/${environmentId}/deploy`)
  await isDeployed(environmentId)

  await sql(source, 'create table number (n int)')
  // 4,000 transactions, one after the other, during the whole copy.
  const loop =
    'do \\$\\$ begin for i in 1..4000 loop insert into number values (i); commit; perform pg_sleep(0.004); ' +
    'end loop; end \\$\\$'
  const writing = engine.exec(
    source,
    ['sh', '-c', `psql --username=root --dbname=postgres -Xqc "${loop}"`],
    AbortSignal.timeout(120_000),
  )
  await until('something is written', async () => Number(await sql(source, 'select count(*) from number')) > 20)

  const copy = await server.must<{ id: string }>('POST', `/environment/${environmentId}/clone`, {
    name: 'copy',
    with_data: true,
  })
  await until(
    'the copy is complete',
    async () => {
      const rows = await server.sql`select from environment where id = ${copy.id} and copying is null`
      return rows.length === 1
    },
    { limitMs: 60_000 },
  )
  assert.ok(
    server.output.some((line) => line.includes('pg_basebackup copied the volume')),
    'PostgreSQL was not paused',
  )
  // The source kept running during the copy.
  assert.equal((await get(application.url)).status, 200)
  await server.must('POST', `/environment/${copy.id}/deploy`)
  await isDeployed(copy.id)

  const [web] = await servicesOf(copy.id, 'application')
  const [store = ''] = await servicesOf(copy.id, 'database')
  const links = await server.must<{ results: { url: string }[] }>('GET', `/application/${web}/link`)
  const [first = 0, second = 0] = (await get(links.results[0]?.url ?? '')).body.split(' ').map(Number)
  assert.ok(first > 0 && (first === second || first === second + 1), `${first} ${second}`)
  const [count, highest] = (await sql(store, 'select count(*), max(n) from number')).split('|').map(Number)
  assert.ok(count && count > 20, `${count} rows`)
  assert.equal(count, highest)

  const credentials = (id: string) => server.must<{ password: string }>('GET', `/database/${id}/masterCredentials`)
  const [own, former] = [(await credentials(store)).password, (await credentials(source)).password]
  assert.equal(await sql(store, 'select 1', own), '1')
  await assert.rejects(sql(store, 'select 1', former), /password authentication failed/)
  await sql(store, 'truncate number')
  assert.equal((await writing).exitCode, 0)
  assert.equal(await sql(source, 'select count(*) from number', former), '4000')
})
