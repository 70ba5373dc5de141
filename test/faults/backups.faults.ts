import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Static } from '@quayside/contract'
import type { Backup } from '@quayside/contract/resources/backup.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { nothingWorks } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { counting } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A server that is killed during a backup, a proof or a restore completes it after the next start
// and leaves no temporary objects.

type BackupReply = Static<typeof Backup>

let server: ServerProcess
let application: TestApplication
let path: string
let good: string
/** The volumes and containers that exist when no backup runs. */
let usual: string

before(async () => {
  server = await startServer()
  const environmentId = await makeEnvironment(server, 'source')
  const storage = [{ mount_point: '/data', size: 4, type: 'FAST_SSD' }]
  application = await makeApplication(server, { environmentId, name: 'counter', settings: { storage } })
  await application.run(counting())
  path = `/application/${application.id}/backup`
  good = (await server.must<BackupReply>('POST', path, {})).id
  await isProven(good)
  usual = await seen()
})
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const newestFirst = async () => (await server.must<{ results: BackupReply[] }>('GET', path)).results
const told = async (id: string) => (await newestFirst()).find((one) => one.id === id)
const isProven = (id: string) =>
  until('the backup is proven', async () => (await told(id))?.proof.state === 'PROVEN', { limitMs: 60_000 })
/** Counts the volumes and containers of this installation. */
const seen = async () => {
  const instance = `quayside.instance=${server.instance}`
  const volumes = await server.engine.volumesWith(instance)
  const containers = await server.engine.containersWith(instance)
  return `${volumes.length} volumes, ${containers.length} containers`
}
const isTidy = () => until('no temporary objects are left', async () => (await seen()) === usual, { limitMs: 30_000 })

for (const point of [
  'workflow.claimed',
  'copy.paused',
  'backup.copied',
  'backup.written',
  'backup.compared',
] as const) {
  test(`a server killed at ${point} completes the backup and proves it`, async () => {
    await nothingWorks(server)
    await server.restart({ failpoint: `${point}:kill` })
    await server.must('POST', path, { name: `at ${point}` }).catch(() => {})
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    const made = (await newestFirst()).find(({ name }) => name === `at ${point}`)
    assert.ok(made, 'the backup was accepted')
    await isProven(made.id)
    await isTidy()
    assert.equal((await application.answer()).status, 200)
  })
}

for (const point of ['restore.asked', 'backup.written', 'restore.written'] as const) {
  test(`a server killed at ${point} of a restore completes it, and the service runs again`, async () => {
    await nothingWorks(server)
    await server.restart({ failpoint: `${point}:kill` })
    await server.must('POST', `${path}/${good}/restore`).catch(() => {})
    assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
    await server.restart()
    const ended = async () => (await told(good))?.restore.state !== 'RUNNING'
    await until('the restore has ended', ended, { limitMs: 60_000 })
    const { restore } = (await told(good)) ?? assert.fail('the backup is gone')
    assert.equal(restore.state, 'SUCCEEDED', `${restore.message}`)
    const isUp = async () =>
      (await server.sql`select from service where id = ${application.id} and state = 'DEPLOYED' and restoring is null`)
        .length === 1
    await until('it runs', isUp, { limitMs: 60_000 })
    assert.equal((await application.answer()).status, 200)
    await isTidy()
  })
}
