import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { makeDatabase, type TestDatabase } from '../support/database.ts'
import { provideDatabaseImages } from '../support/database-images.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'

// Differences between the types of databases: how the owner logs in, and that the database stops in
// order and keeps its data.

let server: ServerProcess
let environmentId: string

before(
  async () => {
    await provideDatabaseImages('mysql', 'redis')
    server = await startServer()
    environmentId = await makeEnvironment(server, 'kinds')
  },
  { timeout: 600_000 },
)
after(() => server?.close())

/**
 * Runs a client in the container at the address that others use. `$0` is the password, `$1` the
 * host.
 */
async function ask(database: TestDatabase, command: string): Promise<string> {
  const { host, password } = await database.credentials()
  const { exitCode, output } = await database.exec('sh', '-c', command, password, host)
  assert.equal(exitCode, 0, output)
  return output.trim()
}

test('MySQL and Redis accept their owner once they are deployed, and keep their data over a stop', async () => {
  const mysql = await makeDatabase(server, environmentId, 'mysql', { mode: 'MANAGED', memory: 512 })
  const redis = await makeDatabase(server, environmentId, 'redis')
  await server.must('POST', `/environment/${environmentId}/deploy`)
  for (const database of [mysql, redis]) {
    const { state, reason } = await database.settles()
    assert.deepEqual({ state, reason }, { state: 'DEPLOYED', reason: null })
  }
  const inMysql = (sql: string) =>
    ask(mysql, `MYSQL_PWD="$0" mysql --host="$1" --user=root --skip-column-names --execute='${sql}'`)
  const inRedis = (words: string) => ask(redis, `REDISCLI_AUTH="$0" redis-cli -h "$1" ${words}`)
  await inMysql('create table mysql.kept (name text); insert into mysql.kept values ("one")')
  assert.equal(await inRedis('set kept one'), 'OK')
  assert.match((await redis.exec('redis-cli', 'ping')).output, /NOAUTH/)
  for (const database of [mysql, redis]) await database.acts('stop', 'STOPPED')
  for (const database of [mysql, redis]) await database.acts('deploy')
  assert.equal(await inMysql('select name from mysql.kept'), 'one')
  assert.equal(await inRedis('get kept'), 'one')
  assert.doesNotMatch(await mysql.printed(), /crash recovery|Starting crash/i)
  assert.doesNotMatch(await redis.printed(), /Bad file format|truncat/i)
})
