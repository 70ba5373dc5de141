import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Static } from '@quayside/contract'
import type { Backup } from '@quayside/contract/resources/backup.ts'
import { makeEnvironment } from '../support/application.ts'
import { makeDatabase, type TestDatabase } from '../support/database.ts'
import { provideDatabaseImages } from '../support/database-images.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// Databases other than PostgreSQL, which makes its own archive, are paused for a backup while they
// are written to.

type BackupReply = Static<typeof Backup>

let server: ServerProcess
let environmentId: string

before(
  async () => {
    await provideDatabaseImages('mysql', 'redis')
    server = await startServer()
    environmentId = await makeEnvironment(server, 'source')
  },
  { timeout: 600_000 },
)
after(() => server?.close())

/** Commands for the shell inside the container. The password is `$0`. */
const kinds = {
  mysql: {
    write: (text: string) =>
      'MYSQL_PWD="$0" mysql --user=root --execute="create database if not exists shop; create table if not ' +
      `exists shop.word (text varchar(20)); delete from shop.word; insert into shop.word values ('${text}')"`,
    read: 'MYSQL_PWD="$0" mysql --user=root --skip-column-names --execute="select text from shop.word"',
  },
  redis: {
    write: (text: string) => `export REDISCLI_AUTH="$0"; redis-cli set word ${text} && redis-cli save`,
    read: 'REDISCLI_AUTH="$0" redis-cli get word',
  },
} as const

for (const kind of ['mysql', 'redis'] as const) {
  test(`a backup of ${kind} is proven by a server that starts on it, and a restore brings the data back`, async () => {
    const database: TestDatabase = await makeDatabase(server, environmentId, kind)
    await database.acts('deploy')
    const { password } = await database.credentials()
    const inside = async (command: string) => {
      const { exitCode, output } = await database.exec('sh', '-c', command, password)
      assert.ok(exitCode === 0 && !/^NOAUTH|ERR/.test(output), output)
      return output.trim()
    }
    const path = `${database.path}/backup`
    const told = async (id: string) => {
      const { results } = await server.must<{ results: BackupReply[] }>('GET', path)
      return results.find((one) => one.id === id) ?? assert.fail('the backup is gone')
    }
    await inside(kinds[kind].write('first'))
    const { id } = await server.must<BackupReply>('POST', path, {})
    const isJudged = async () =>
      (await told(id)).status.state === 'FAILED' || /PROVEN|FAILED/.test((await told(id)).proof.state)
    await until('the backup is checked', isJudged, { limitMs: 90_000 })
    const { status, proof } = await told(id)
    assert.match(`${proof.message}`, /the database became healthy on it/, `${status.message}`)
    await inside(kinds[kind].write('second'))
    await server.must('POST', `${path}/${id}/restore`)
    await until('the restore has ended', async () => (await told(id)).restore.state !== 'RUNNING', { limitMs: 90_000 })
    assert.equal((await told(id)).restore.message, 'Its volumes are those of the backup.')
    await database.settles()
    assert.equal(await inside(kinds[kind].read), 'first')
  })
}
