import assert from 'node:assert/strict'
import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { listSnapshots, takeSnapshot } from '../../server/database/index.ts'
import { readMigrations } from '../../server/database/migrate.ts'
import { run } from '../../server/lib/run.ts'
import { makeApplication, makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// The database returns to a snapshot, but the engine does not. The server knows nothing of later
// deployments.

const root = join(import.meta.dirname, '..', '..')
const migrations = (await readMigrations()).map(({ name }) => name)
let server: ServerProcess

before(async () => {
  server = await startServer()
})
after(() => server?.close())

/** Takes a snapshot like a start before an upgrade. */
const snapshot = (): Promise<string> =>
  takeSnapshot({
    cluster: join(server.dataDirectory, 'postgresql', 'cluster'),
    directory: join(server.dataDirectory, 'snapshots'),
    record: {
      taken_at: new Date().toISOString(),
      of: null,
      before: { version: '0' },
      migrations,
      pending: ['9999_newer.sql'],
      master_key: null,
    },
    signal: AbortSignal.timeout(60_000),
  })

async function goBack(): Promise<string> {
  const args = [join(root, 'server', 'start', 'restore-snapshot.ts'), 'former', ...migrations]
  const env = { QUAYSIDE_DATA: server.dataDirectory }
  const { exitCode, stdout, stderr } = await run(process.execPath, args, { cwd: root, env, timeoutMs: 60_000 })
  assert.equal(exitCode, 0, stderr)
  await rm(join(server.dataDirectory, 'rollback.json'))
  return stdout.toString()
}

test('a rollback serves the versions of the snapshot, ends and reports unknown services, and keeps their volumes', async () => {
  const environmentId = await makeEnvironment(server, 'rollback')
  const known = await makeApplication(server, { environmentId, name: 'known' })
  await known.run(web('one'))
  await server.stop()
  await snapshot()
  await server.restart()
  await known.run(web('two'))
  const storage = [{ mount_point: '/data', size: 1, type: 'FAST_SSD' }]
  const newer = await makeApplication(server, { environmentId, name: 'newer', settings: { storage } })
  await newer.run(web('newer'))
  const label = `quayside.service=${newer.id}`
  const volumes = await server.engine.volumesWith(label)
  assert.equal(volumes.length, 1)
  await server.sql`insert into schema_migration (name, checksum) values ('9999_newer.sql', '')`
  await server.stop()

  const [, aside = ''] = /kept in (\S+)\. Delete/.exec(await goBack()) ?? []
  await access(join(aside, 'PG_VERSION'))
  assert.equal((await listSnapshots(join(server.dataDirectory, 'snapshots'))).length, 1)
  await server.restart()
  await until('the version of the snapshot answers', async () => (await known.answer()).body === 'one', {
    limitMs: 60_000,
  })
  await until('the unknown service has ended', async () => (await server.engine.containersWith(label)).length === 0)
  assert.equal((await server.api('GET', `/application/${newer.id}`)).status, 404)
  assert.deepEqual(await server.engine.volumesWith(label), volumes)
  const told = server.output.filter((line) => line.includes('something runs for a service that does not exist'))
  assert.ok(told.some((line) => line.includes(newer.id)))
  await known.git.remove()
  await newer.git.remove()
})
