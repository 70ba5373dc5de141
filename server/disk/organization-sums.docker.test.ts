import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { openDockerBench } from '../engines/docker/test-bench.ts'
import { importTestImage, removeTestImage } from '../engines/docker/test-image.ts'
import { attempt, newRelease } from '../engines/engine.cases.ts'
import { newId } from '../lib/id.ts'
import { sumByOrganization } from './organization-sums.ts'

const socketPath = '/var/run/docker.sock'
const image = `quayside-engine-test/sums:${newId().slice(-8)}`
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

it('sums Docker’s measurement by the organization of the service', async () => {
  const { engine } = bench
  const signal = AbortSignal.timeout(120_000)
  const storage = [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
  const [own, other] = [newRelease({ ...bench.workload('web'), storage }), newRelease(bench.workload('web'))]
  for (const release of [own, other]) await engine.start(release, attempt())
  const write = (path: string, size: number) =>
    `require('node:fs').writeFileSync('${path}', Buffer.alloc(${size * mebibyte}, 1))`
  for (const [release, path, size] of [
    [own, '/data/big', 20],
    [other, '/tmp/big', 10],
  ] as const) {
    const { exitCode, output } = await engine.exec(release.service, ['node', '-e', write(path, size)], signal)
    assert.equal(exitCode, 0, output)
  }
  const owners = [
    { id: own.service, organization_id: 'A', is_service: true },
    { id: other.service, organization_id: 'B', is_service: true },
  ]
  const found = { disk: await engine.disk(signal), logs: new Map(), repositories: new Map() }
  const { services } = sumByOrganization(found, owners)
  const of = (organization: string, part: string) =>
    services.find((one) => one.organization_id === organization && one.part === part)?.bytes ?? 0
  const volume = of('A', storage[0]?.id ?? '')
  assert.ok(volume >= 20 * mebibyte && volume < 21 * mebibyte, `${volume}`)
  assert.ok(of('A', 'LAYERS') < mebibyte, `${of('A', 'LAYERS')}`)
  assert.ok(of('B', 'LAYERS') >= 10 * mebibyte && of('B', 'LAYERS') < 11 * mebibyte, `${of('B', 'LAYERS')}`)
  for (const { service } of [own, other]) await engine.erase(service, attempt())
})
