import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { newId } from '../../lib/id.ts'
import { busy } from '../docker/test-bench.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import type { LongRunning, Release } from '../engine.ts'
import { kinds } from './client/index.ts'
import { namespaceOf, releaseName } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
/** Metrics are measured every fifteen seconds, and the first ones of a pod do not count. */
const scaleMs = 180_000

describe('a release that the cluster scales', () => {
  let bench: KubernetesBench
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(() => bench?.close())

  const scaled = (workload: LongRunning, min: number, max: number, cpuPercent = 50): Release =>
    newRelease({ ...workload, cpuMilli: 50, replicas: { min, max }, targets: { cpuPercent } })
  const placeOf = (release: Release) => ({ namespace: namespaceOf(release.environment), name: releaseName(release) })
  const wantedOf = async (release: Release): Promise<number | undefined> =>
    (await bench.kube.get(kinds.deployment, placeOf(release), limit()))?.spec.replicas
  const scalerOf = (release: Release) => bench.kube.get(kinds.autoscaler, placeOf(release), limit())
  const runningOf = async (release: Release): Promise<number> => {
    const seen = await bench.engine.observe(release.service, limit())
    if (seen.state === 'absent') return 0
    return seen.replicas.filter((one) => one.release === release.id && one.endpoints.length > 0).length
  }

  it('gets replicas by load, and neither a repeated start nor a new version takes them away', async () => {
    const { engine, workload } = bench
    const release = scaled(busy(workload('web')), 1, 3)
    assert.equal((await engine.start(release, attempt())).length, 1)
    await until('the load has added replicas', async () => (await runningOf(release)) >= 2, { limitMs: scaleMs })
    const before = await wantedOf(release)
    assert.ok((before ?? 0) >= 2)
    const again = await engine.start(release, attempt())
    assert.ok(again.length >= 2, `${again.length} endpoints`)
    assert.ok(((await wantedOf(release)) ?? 0) >= 2)
    const next = { ...release, id: newId() }
    assert.ok((await engine.start(next, attempt())).length >= 2)
    await engine.retire(release.service, next.id, attempt())
    assert.equal(await scalerOf(release), undefined)
    assert.ok((await runningOf(next)) >= 2)
    await engine.retire(release.service, undefined, attempt())
    assert.equal(await scalerOf(next), undefined)
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
  })

  it('has its least number of replicas at once, and sleeps and wakes as others do', async () => {
    const { engine, workload } = bench
    const release = scaled(workload('web'), 2, 4)
    const endpoints = await engine.start(release, attempt())
    assert.equal(endpoints.length, 2)
    await engine.endReplicas(
      release.service,
      endpoints.map(({ replica }) => replica),
      attempt(),
    )
    assert.equal(await wantedOf(release), 0)
    await until('the autoscaler has seen it', async () => {
      const { status } = Object(await scalerOf(release))
      const active = status?.conditions?.find(({ type }: { type: string }) => type === 'ScalingActive')
      return active?.reason === 'ScalingDisabled'
    })
    assert.equal(await wantedOf(release), 0)
    assert.equal((await engine.start(release, attempt())).length, 2)
    await engine.erase(release.service, attempt())
  })

  it('keeps its replicas if its number was fixed by an earlier version of the platform', async () => {
    const { engine, kube, workload } = bench
    const release = scaled(workload('web'), 1, 3)
    const { targets: _, ...fixed } = { ...release.workload, replicas: { min: 2, max: 3 } }
    assert.equal((await engine.start({ ...release, workload: fixed }, attempt())).length, 2)
    const counts: (number | undefined)[] = []
    const watched = new AbortController()
    const watch = (async () => {
      const fields = `metadata.name=${releaseName(release)}`
      const { namespace } = placeOf(release)
      for await (const { object } of kube.watch(kinds.deployment, { namespace, fields }, watched.signal)) {
        counts.push(object.spec.replicas)
      }
    })().catch(() => {})
    assert.equal((await engine.start(release, attempt())).length, 2)
    watched.abort()
    await watch
    assert.ok(!counts.includes(1), counts.join())
    assert.ok((await scalerOf(release)) !== undefined)
    await engine.erase(release.service, attempt())
  })

  it('has no replica while its volume is copied, and gets them back', async () => {
    const { engine, workload } = bench
    const storage = [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
    const release = scaled({ ...workload('web'), storage }, 2, 3)
    await engine.start(release, attempt())
    const owner = newRelease(workload('web'))
    const copies = [{ from: storage[0]?.id ?? '', to: newId(), owner, sizeGiB: 1 }]
    const seen: (number | undefined)[] = []
    let told: Promise<void> | undefined
    const tell = async (): Promise<void> => void seen.push(await wantedOf(release))
    await engine.copyVolumes(copies, { mostStandingSeconds: 60, tell: () => (told ??= tell()) }, attempt())
    await told
    assert.deepEqual(seen, [0])
    await until('its replicas are back', async () => (await runningOf(release)) === 2)
    await engine.erase(release.service, attempt())
    await engine.erase(owner.service, attempt())
  })
})
