import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { newId } from '../../lib/id.ts'
import { archiveCases } from '../engine.archives.cases.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import type { Release } from '../engine.ts'
import { type VolumeBench, volumeCases } from '../engine.volumes.cases.ts'
import { kinds } from './client/index.ts'
import { annotation, label } from './labels.ts'
import { namespaceOf } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

const withFiles = <B extends KubernetesBench>(bench: B): B & VolumeBench => {
  const inside = async (service: string, program: string, ...values: readonly string[]) =>
    (await bench.engine.exec(service, ['node', '-p', program, '--', ...values], limit())).output.trimEnd()
  return {
    ...bench,
    write: async ({ service }, text) =>
      void (await inside(service, 'fs.writeFileSync("/data/text", process.argv[1])', text)),
    read: ({ service }) => inside(service, 'fs.readFileSync("/data/text", "utf8")'),
  }
}
const openBench = async () => withFiles(await openKubernetesBench({ image: image.reference() }))

volumeCases('kubernetes', openBench)
archiveCases('kubernetes', openBench)

describe('copies of volumes on a cluster', () => {
  let bench: Awaited<ReturnType<typeof openBench>>
  before(async () => {
    bench = await openBench()
  })
  after(() => bench?.close())
  const withVolume = (): Release =>
    newRelease({ ...bench.workload('web'), storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }] })
  const volumeOf = ({ workload }: Release): string => workload.storage[0]?.id ?? ''
  const deploymentsOf = async ({ environment }: Release) =>
    (await bench.kube.list(kinds.deployment, { namespace: namespaceOf(environment) }, limit())).items

  it('give replicas back that a killed process kept away', async () => {
    const [source, target] = [withVolume(), withVolume()]
    await bench.engine.start(source, attempt())
    await bench.write(source, 'here')
    const [deployment] = await deploymentsOf(source)
    assert.ok(deployment)
    const left = { labels: { [label.held]: 'true' }, annotations: { [annotation.heldReplicas]: '1' } }
    await bench.kube.patch(kinds.deployment, deployment.metadata, { metadata: left, spec: { replicas: 0 } }, limit())
    const copies = [{ from: volumeOf(source), to: volumeOf(target), owner: target, sizeGiB: 1 }]
    assert.ok((await bench.another().copyVolumes(copies, { mostStandingSeconds: 100 }, attempt())) > 0)
    const [after] = await deploymentsOf(source)
    assert.deepEqual([after?.spec.replicas, after?.metadata.labels?.[label.held]], [1, undefined])
    await bench.engine.start(target, attempt())
    assert.equal(await bench.read(target), 'here')
  })

  it('report their services as held, which another process resumes after a crash', async () => {
    const [source, target] = [withVolume(), withVolume()]
    await bench.engine.start(source, attempt())
    await bench.write(source, 'here')
    const seen: unknown[] = []
    const tell = async (): Promise<void> => {
      seen.push(await bench.engine.observe(source.service, limit()))
    }
    const copies = [{ from: volumeOf(source), to: volumeOf(target), owner: target, sizeGiB: 1 }]
    let told: Promise<void> | undefined
    await bench.engine.copyVolumes(copies, { mostStandingSeconds: 60, tell: () => (told ??= tell()) }, attempt())
    await told
    assert.deepEqual(seen, [
      { state: 'starting', release: source.id, replicas: [], reason: 'its volumes are being copied', isHeld: true },
    ])
    // As a process leaves it that is killed in a copy.
    const [deployment] = await deploymentsOf(source)
    assert.ok(deployment)
    const metadata = { labels: { [label.held]: 'true' }, annotations: { 'quayside.io/held-replicas': '1' } }
    await bench.kube.patch(kinds.deployment, deployment.metadata, { metadata, spec: { replicas: 0 } }, limit())
    assert.deepEqual(await bench.another().resume(limit()), [deployment.metadata.name])
    assert.deepEqual(await bench.another().resume(limit()), [])
    assert.equal((await deploymentsOf(source))[0]?.spec.replicas, 1)
    for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
  })

  it('use the program of a running replica, which continues', async () => {
    const [source, target] = [withVolume(), withVolume()]
    await bench.engine.start(source, attempt())
    const before = await bench.engine.observe(source.service, limit())
    const printed = pack()
    printed.entry({ name: 'text' }, 'printed')
    printed.finalize()
    const program = `process.stdout.write(Buffer.from('${(await buffer(printed)).toString('base64')}', 'base64'))`
    const archive = { service: source.service, command: ['node', '-e', program] }
    const copies = [{ from: volumeOf(source), to: volumeOf(target), owner: target, sizeGiB: 1, archive }]
    const lines: string[] = []
    const output = { line: (text: string) => void lines.push(text) }
    assert.ok((await bench.engine.copyVolumes(copies, { mostStandingSeconds: 60 }, { signal: limit(), output })) > 0)
    assert.deepEqual(lines, ["node copied the volume's data while its service continued."])
    const after = await bench.engine.observe(source.service, limit())
    assert.deepEqual(after, before)
    await bench.engine.start(target, attempt())
    assert.equal(await bench.read(target), 'printed')
    for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
  })

  it('leave no pod behind', async () => {
    const { items } = await bench.kube.list(kinds.pod, { labels: { [label.instance]: bench.instance } }, limit())
    assert.deepEqual(
      items.filter(({ metadata }) => metadata.labels?.[label.helper] !== undefined),
      [],
    )
  })
})
