import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statfs } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { pack } from 'tar-stream'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { DockerDaemon } from './daemon.ts'
import { DockerEngine } from './docker-engine.ts'
import { volumeName } from './labels.ts'
import { openDockerBench } from './test-bench.ts'
import { importTestImage, removeTestImage } from './test-image.ts'

const socketPath = '/var/run/docker.sock'
const image = `quayside-engine-test/node:${newId().slice(-8)}`
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

before(() => importTestImage(socketPath, image))
after(() => removeTestImage(socketPath, image))

test('a copy of a sparse file larger than the disk stops above the floor and leaves nothing behind', async (t) => {
  const bench = await openDockerBench({ socketPath, image })
  t.after(() => bench.close())
  const storage = [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
  const source = newRelease({ ...bench.workload('web'), storage })
  const [from, to] = [storage[0]?.id ?? '', newId()]
  await bench.engine.start(source, attempt())
  const program = 'fs.closeSync(fs.openSync("/data/sparse","w"));fs.truncateSync("/data/sparse",2**40)'
  await bench.engine.exec(source.service, ['node', '-p', program], limit())
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const info = await daemon.json({ method: 'GET', path: '/info', signal: limit() })
  const directory = 'DockerRootDir' in info ? String(info.DockerRootDir) : ''
  const { bavail, bsize } = await statfs(directory)
  // Half a gigabyte may be written until the floor is reached.
  const floorBytes = bavail * bsize - 512 * 1024 ** 2
  const engine = new DockerEngine({ socketPath, instance: bench.instance, clock: systemClock, floorBytes })
  const owner = { service: newId(), environment: newId() }
  const copying = engine.copyVolumes([{ from, to, owner, sizeGiB: 2048 }], { mostStandingSeconds: 100 }, attempt())
  await assert.rejects(copying, {
    name: 'EngineError',
    reason: 'disk-full',
    message: /Sparse files take their full length/,
  })
  assert.equal(await bench.exists(`/volumes/${volumeName({ id: to })}`), false)
  const { state } = await bench.engine.observe(source.service, limit())
  assert.equal(state, 'running')
  await bench.engine.erase(source.service, attempt())
})

async function* endless(): AsyncGenerator<Uint8Array> {
  const tar = pack()
  tar.entry({ name: 'volume/endless', size: 2 ** 32 })
  await once(tar, 'readable')
  const header: unknown = tar.read()
  if (header instanceof Uint8Array) yield header
  for (;;) yield Buffer.alloc(1_048_576, 1)
}

test('an archive that never ends stops above the floor and leaves nothing behind', async (t) => {
  const bench = await openDockerBench({ socketPath, image })
  t.after(() => bench.close())
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const info = await daemon.json({ method: 'GET', path: '/info', signal: limit() })
  const { bavail, bsize } = await statfs('DockerRootDir' in info ? String(info.DockerRootDir) : '')
  const floorBytes = bavail * bsize - 256 * 1024 ** 2
  const engine = new DockerEngine({ socketPath, instance: bench.instance, clock: systemClock, floorBytes })
  const volume = newId()
  const writing = engine.writeVolume(
    volume,
    { service: newId(), environment: newId(), sizeGiB: 1 },
    endless(),
    attempt(),
  )
  await assert.rejects(writing, { name: 'EngineError', reason: 'disk-full' })
  assert.equal(await bench.exists(`/volumes/${volumeName({ id: volume })}`), false)
})
