import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { pack } from 'tar-stream'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { createEngines, FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createRoster } from '../lib/roster.ts'
import { addPlace } from '../variables/testing.ts'
import { createVolumeCopier } from './copy-volumes.ts'
import { scratchOf } from './move-volumes.ts'
import { createResumer } from './resumer.ts'

const attempt = { signal: new AbortController().signal, output: silent }

/** Two services on clusters of these engines, and a copier that records its calls of engines. */
async function openBench(t: Cleanup, names: readonly [string, string]) {
  const { sql } = await testDatabase(t)
  const services: string[] = []
  for (const name of names) {
    const { serviceId, organizationId } = (await addPlace(sql)).service
    await sql`update cluster set engine = ${name} where organization_id = ${organizationId}`
    services.push(serviceId)
  }
  const asked: string[] = []
  const engineNamed = (name: string) => {
    const engine = new FakeEngine({ clock })
    engine.copyVolumes = async (copies, limits) => {
      const commands = copies.map(({ archive }) => archive?.command.join(' ') ?? 'files')
      asked.push(`${name} copies ${commands.join(', ')} within ${limits.mostStandingSeconds} s`)
      return 7
    }
    engine.erase = async (service) => void asked.push(`${name} erases ${service}`)
    return { name, engine }
  }
  const [first, second] = [engineNamed('local'), engineNamed('second')]
  const engines = createEngines(createRoster([first, second]))
  const copier = createVolumeCopier({
    database: sql,
    engines,
    mostStandingSeconds: 30,
    patiently: (_, work) => work(),
  })
  const [source = '', service = ''] = services
  const volume = { from: newId(), to: newId(), sizeGiB: 1 }
  const planned = { source, service, environment: newId(), volumes: [volume], archiveCommand: [] }
  return { asked, first: first.engine, second: second.engine, copier, planned, volume, service }
}

async function* archiveOf(text: string): AsyncGenerator<Uint8Array> {
  const tar = pack()
  tar.entry({ name: 'volume/', type: 'directory' })
  tar.entry({ name: 'volume/text' }, text)
  tar.finalize()
  yield await buffer(tar)
}

test('a copier uses the engine of the services, and a command for databases', async (t) => {
  const { asked, copier, planned } = await openBench(t, ['second', 'second'])
  const database = { ...planned, archiveCommand: ['dump'] }
  assert.equal(await copier.copyVolumes([planned, database], () => {}, attempt), 7)
  assert.deepEqual(asked, ['second copies files, dump within 30 s'])
})

test('a copier moves archives to another engine, and leaves nothing on the first', async (t) => {
  const { asked, first, second, copier, planned, volume } = await openBench(t, ['local', 'second'])
  first.copyVolumes = async (copies) => {
    for (const { from, to, owner } of copies) {
      asked.push(`local copies ${from}`)
      await first.writeVolume(to, { ...owner, sizeGiB: 1 }, archiveOf('kept'), attempt)
    }
    return 7
  }
  assert.equal(await copier.copyVolumes([planned], () => {}, attempt), 7)
  assert.equal(await second.hasVolume(volume.to, attempt.signal), true)
  assert.deepEqual(asked, [`local copies ${volume.from}`, `local erases ${scratchOf(planned.service)}`])
})

test('a copier refuses an archive of another engine that is much longer than its storage', async (t) => {
  const { first, second, copier, planned, volume } = await openBench(t, ['local', 'second'])
  first.copyVolumes = async () => 7
  first.hasVolume = async () => true
  first.readVolume = async (_volume, write) => {
    // 4 GiB of the same mebibyte: an archive that never ends.
    const piece = Buffer.alloc(1_048_576)
    await write(Readable.from(Array.from({ length: 4096 }, () => piece)))
    return 0
  }
  second.writeVolume = async (_volume, _target, archive) => {
    let bytes = 0
    for await (const piece of archive) bytes += piece.length
    return bytes
  }
  const copying = copier.copyVolumes([planned], () => {}, attempt)
  await assert.rejects(copying, /archive of a volume of 1 GiB is longer than 3 GiB/)
  assert.equal(await second.hasVolume(volume.to, attempt.signal), false)
})

test('a copier erases volumes on the engine of a service, or on all engines when it has no row', async (t) => {
  const { asked, copier, service } = await openBench(t, ['local', 'second'])
  await copier.eraseVolumes(service, attempt)
  assert.deepEqual(asked.splice(0), [`second erases ${service}`])
  const gone = newId()
  await copier.eraseVolumes(gone, attempt)
  const owners = [gone, scratchOf(gone)]
  const expected = ['local', 'second'].flatMap((name) => owners.map((owner) => `${name} erases ${owner}`))
  assert.deepEqual(asked.sort(), expected.sort())
})

test('a resumer logs resumed replicas and has the name of its engine', async () => {
  const warned: unknown[] = []
  const log = { ...silentLogger, warn: (about: unknown) => void warned.push(about) } as typeof silentLogger
  const resumer = createResumer({ log }, { name: 'second', engine: { resume: async () => ['app-1'] } })
  await resumer.reconcile(attempt.signal)
  assert.equal(resumer.name, 'standing still (second)')
  assert.deepEqual(warned, [{ container: 'app-1' }])
})
