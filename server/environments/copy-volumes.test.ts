import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { createEngines, FakeEngine } from '../engines/index.ts'
import { silent } from '../lib/attempt.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { silentLogger } from '../lib/log.ts'
import { createRoster } from '../lib/roster.ts'
import { addPlace } from '../variables/testing.ts'
import { createVolumeCopier } from './copy-volumes.ts'
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
  const engines = createEngines(createRoster([engineNamed('local'), engineNamed('second')]))
  const copier = createVolumeCopier({
    database: sql,
    engines,
    mostStandingSeconds: 30,
    patiently: (_, work) => work(),
  })
  const [source = '', service = ''] = services
  const volumes = [{ from: newId(), to: newId() }]
  const planned = { source, service, environment: newId(), volumes, archiveCommand: [] }
  return { asked, copier, planned, service }
}

test('a copier uses the engine of the services, and a command for databases', async (t) => {
  const { asked, copier, planned } = await openBench(t, ['second', 'second'])
  const database = { ...planned, archiveCommand: ['dump'] }
  assert.equal(await copier.copyVolumes([planned, database], () => {}, attempt), 7)
  assert.deepEqual(asked, ['second copies files, dump within 30 s'])
})

test('a copier rejects copies between clusters on different engines', async (t) => {
  const { asked, copier, planned } = await openBench(t, ['local', 'second'])
  const copying = copier.copyVolumes([planned], () => {}, attempt)
  await assert.rejects(copying, /data cannot be copied to a cluster on another engine/)
  assert.deepEqual(asked, [])
})

test('a copier erases volumes on the engine of a service, or on all engines when it has no row', async (t) => {
  const { asked, copier, service } = await openBench(t, ['local', 'second'])
  await copier.eraseVolumes(service, attempt)
  assert.deepEqual(asked.splice(0), [`second erases ${service}`])
  const gone = newId()
  await copier.eraseVolumes(gone, attempt)
  assert.deepEqual(asked.sort(), [`local erases ${gone}`, `second erases ${gone}`])
})

test('a resumer logs resumed replicas and has the name of its engine', async () => {
  const warned: unknown[] = []
  const log = { ...silentLogger, warn: (about: unknown) => void warned.push(about) } as typeof silentLogger
  const resumer = createResumer({ log }, { name: 'second', engine: { resume: async () => ['app-1'] } })
  await resumer.reconcile(attempt.signal)
  assert.equal(resumer.name, 'standing still (second)')
  assert.deepEqual(warned, [{ container: 'app-1' }])
})
