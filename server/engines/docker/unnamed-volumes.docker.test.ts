import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { newId } from '../../lib/id.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { openDockerBench } from './test-bench.ts'
import { importTestImage, removeTestImage } from './test-image.ts'

const socketPath = '/var/run/docker.sock'
const image = `quayside-engine-test/unnamed:${newId().slice(-8)}`
const mebibyte = 1024 * 1024
let bench: Awaited<ReturnType<typeof openDockerBench>>

before(async () => {
  await importTestImage(socketPath, image)
  bench = await openDockerBench({ socketPath, image })
})
after(async () => {
  await bench?.close()
  await removeTestImage(socketPath, image)
})

it('counts writes to an unnamed volume as written outside of volumes', async () => {
  const { engine } = bench
  const signal = AbortSignal.timeout(120_000)
  // Below a read-only root, the directory of a mounted file is an unnamed volume.
  const files = [{ path: '/config/file', content: 'c' }]
  const release = newRelease({ ...bench.workload('portless'), hasReadOnlyRoot: true, files })
  await engine.start(release, attempt())
  const write = `fs.writeFileSync('/config/big', Buffer.alloc(${20 * mebibyte}, 1))`
  const { exitCode, output } = await engine.exec(release.service, ['node', '-e', write], signal)
  assert.equal(exitCode, 0, output)
  const { layers } = await engine.disk(signal)
  const bytes = layers.find(({ service }) => service === release.service)?.bytes ?? 0
  assert.ok(bytes >= 20 * mebibyte && bytes < 21 * mebibyte, `${bytes}`)
  await engine.erase(release.service, attempt())
})
