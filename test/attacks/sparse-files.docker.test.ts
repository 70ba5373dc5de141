import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Static } from '@quayside/contract'
import type { Backup } from '@quayside/contract/resources/backup.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { until } from '../support/until.ts'

type BackupReply = Static<typeof Backup>

let server: ServerProcess
let application: TestApplication
let path: string

/** Writes a sparse file of 200 MiB with data at three places, and answers its digest and blocks. */
const program = `
  const fs = require('node:fs')
  const file = '/data/disk'
  const places = [0, 77_777_777, 200 * 2 ** 20 - 6]
  if (!fs.existsSync(file)) {
    const open = fs.openSync(file, 'w')
    fs.truncateSync(file, 200 * 2 ** 20)
    for (const place of places) fs.writeSync(open, 'pages!', place)
    fs.closeSync(open)
  }
  const answers = {
    '/digest': () => require('node:crypto').createHash('sha256').update(fs.readFileSync(file)).digest('hex'),
    '/blocks': () => String(fs.statSync(file).blocks * 512),
    '/grow': () => {
      fs.closeSync(fs.openSync('/data/bomb', 'w'))
      fs.truncateSync('/data/bomb', 3 * 2 ** 30)
      return 'grown'
    },
    '/shrink': () => (fs.rmSync('/data/bomb'), 'shrunk'),
  }
  require('node:http').createServer(({ url }, response) => response.end((answers[url] ?? (() => 'up'))())).listen(8080)
  process.on('SIGTERM', () => process.exit(0))`

before(async () => {
  server = await startServer()
  const environmentId = await makeEnvironment(server, 'sparse')
  const storage = [{ mount_point: '/data', size: 1, type: 'FAST_SSD' }]
  const settings = { storage, memory: 512 }
  application = await makeApplication(server, { environmentId, name: 'sparse', settings })
  const lines = ['FROM quayside/node:24', 'WORKDIR /app', 'COPY . ./', 'CMD ["node", "app.js"]', '']
  await application.run({ Dockerfile: lines.join('\n'), 'app.js': program })
  path = `/application/${application.id}/backup`
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const say = async (place: string): Promise<string> => (await get(`${application.url}${place}`)).body
const told = async (id: string) =>
  (await server.must<{ results: BackupReply[] }>('GET', path)).results.find((one) => one.id === id)
const made = async (): Promise<BackupReply> => {
  const { id } = await server.must<BackupReply>('POST', path, {})
  const ended = async () => {
    const { status, proof } = (await told(id)) ?? assert.fail('the backup is gone')
    return status.state === 'FAILED' || /PROVEN|FAILED/.test(proof.state)
  }
  await until('the backup has ended', ended, { limitMs: 120_000 })
  return (await told(id)) ?? assert.fail('the backup is gone')
}

test('a sparse file within its storage is backed up in few bytes, proven and restored byte for byte', async () => {
  const digest = await say('/digest')
  assert.ok(Number(await say('/blocks')) < 1_048_576)
  const backup = await made()
  assert.equal(backup.proof.state, 'PROVEN', `${backup.status.message} ${backup.proof.message}`)
  const [file] = await server.sql<{ path: string }[]>`select path from backup_file where backup_id = ${backup.id}`
  const { size } = await stat(join(server.dataDirectory, 'backups', file?.path ?? ''))
  assert.ok(size < 1_048_576, `the file has ${size} bytes`)
  await server.must('POST', `${path}/${backup.id}/restore`)
  const restored = async () => !/RUNNING|NONE/.test((await told(backup.id))?.restore.state ?? '')
  await until('the restore has ended', restored, { limitMs: 120_000 })
  assert.equal((await told(backup.id))?.restore.state, 'SUCCEEDED')
  await until('it answers', async () => (await application.answer()).status === 200, { limitMs: 60_000 })
  assert.equal(await say('/digest'), digest)
  // Its holes are filled now, up to its length.
  assert.ok(Number(await say('/blocks')) < 201 * 1_048_576)
})

test('a sparse file beyond its storage is not backed up, says why, and harms no later backup', async () => {
  assert.equal(await say('/grow'), 'grown')
  const refused = await made()
  assert.equal(refused.status.state, 'FAILED')
  assert.match(refused.status.message ?? '', /1 GiB have 3\.\d GiB or more in all.*Give its storage a larger size/)
  assert.equal((await application.answer()).status, 200)
  const instance = `quayside.instance=${server.instance}`
  const onlyOne = async () => (await server.engine.volumesWith(instance)).length === 1
  await until('no copy is left', onlyOne, { limitMs: 60_000 })
  assert.equal(await say('/shrink'), 'shrunk')
  assert.equal((await made()).proof.state, 'PROVEN')
})
