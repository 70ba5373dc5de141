import assert from 'node:assert/strict'
import https from 'node:https'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, describe, it, mock } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import type { Release } from '../engine.ts'
import { type Kind, kinds } from './client/index.ts'
import { label } from './labels.ts'
import { namespaceOf, releaseName } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

describe('objects of a release that somebody changes', () => {
  let bench: KubernetesBench
  let release: Release
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
    const workload = {
      ...bench.workload('web'),
      aliases: ['shop'],
      variables: { A: 'b' },
      replicas: { min: 1, max: 2 },
      targets: { cpuPercent: 60 },
    }
    release = newRelease(workload)
    await bench.engine.start(release, attempt())
  })
  after(() => bench?.close())

  /** Another process: it has just begun to observe, and knows nothing of earlier starts. */
  const isSeen = async (): Promise<boolean> => {
    const observer = bench.another()
    const isChanged = async (): Promise<boolean> => {
      const seen = (await observer.observeAll(limit())).get(release.service)
      return seen !== undefined && seen.state !== 'absent' && seen.replicas.some((one) => one.isChanged)
    }
    await until('it is seen', isChanged, { limitMs: 10_000 }).finally(() => observer.close())
    return true
  }
  const isWhole = async (): Promise<void> => {
    const observer = bench.another()
    await until('nothing is changed', async () => {
      const seen = (await observer.observeAll(limit())).get(release.service)
      return seen?.state === 'running' && seen.replicas.every(({ isChanged }) => !isChanged)
    }).finally(() => observer.close())
  }
  const place = () => ({ namespace: namespaceOf(release.environment), name: releaseName(release) })
  const inNamespace = (name: string) => ({ ...place(), name })

  it('are as they were applied after a start', () => isWhole())

  const removed: readonly [what: string, kind: Kind, name: () => string][] = [
    ['the Secret', kinds.secret, () => place().name],
    ['the Service', kinds.service, () => 'shop'],
    ['the autoscaler', kinds.autoscaler, () => place().name],
    ['the disruption budget', kinds.disruptionBudget, () => place().name],
    ['the network rules', kinds.networkPolicy, () => 'quayside-isolation'],
    ['the quota', kinds.resourceQuota, () => 'quayside'],
    ['the limits', kinds.limitRange, () => 'quayside'],
  ]
  for (const [what, kind, name] of removed) {
    it(`are restored by a start if ${what} was deleted`, async () => {
      await bench.kube.remove(kind, inNamespace(name()), limit())
      assert.ok(await isSeen())
      await bench.engine.start(release, attempt())
      assert.ok(await bench.kube.get(kind, inNamespace(name()), limit()))
      await isWhole()
    })
  }

  const changes: readonly [what: string, kind: Kind, name: () => string, change: object][] = [
    ['where a Service leads', kinds.service, () => 'shop', { spec: { selector: { [label.service]: 'other' } } }],
    ['a value of the Secret', kinds.secret, () => place().name, { data: { 'variable-0': 'eA==' } }],
    ['the most replicas', kinds.autoscaler, () => place().name, { spec: { maxReplicas: 9 } }],
    ['the network rules', kinds.networkPolicy, () => 'quayside-isolation', { spec: { ingress: [{}] } }],
    [
      'the time to end',
      kinds.deployment,
      () => place().name,
      { spec: { template: { spec: { terminationGracePeriodSeconds: 99 } } } },
    ],
  ]
  for (const [what, kind, name, change] of changes) {
    it(`are restored by a start if somebody changed ${what}`, async () => {
      const spec = async () => JSON.stringify(withoutStatus(await bench.kube.get(kind, inNamespace(name()), limit())))
      const before = await spec()
      await bench.kube.patch(kind, inNamespace(name()), change, limit())
      assert.notEqual(await spec(), before)
      assert.ok(await isSeen())
      await bench.engine.start(release, attempt())
      assert.equal(await spec(), before)
      await isWhole()
    })
  }

  it('are restored by a start if somebody took the rules of its pods from the namespace', async () => {
    const name = place().namespace
    const key = 'pod-security.kubernetes.io/enforce'
    await bench.kube.patch(kinds.namespace, { name }, { metadata: { labels: { [key]: 'privileged' } } }, limit())
    assert.ok(await isSeen())
    await bench.engine.start(release, attempt())
    assert.equal((await bench.kube.get(kinds.namespace, { name }, limit()))?.metadata.labels?.[key], 'baseline')
  })

  it('are not reported twice within half a minute, if somebody changes them again and again', async () => {
    const { engine, kube } = bench
    await engine.start(release, attempt())
    await kube.patch(kinds.autoscaler, place(), { spec: { maxReplicas: 9 } }, limit())
    const seen = (await engine.observeAll(limit())).get(release.service)
    assert.ok(seen && seen.state !== 'absent')
    assert.ok(seen.replicas.every(({ isChanged }) => !isChanged))
    await engine.start(release, attempt())
  })

  it('cost an idle cluster at most one call a second', async () => {
    const observer = bench.another()
    await observer.observeAll(limit())
    let calls = 0
    const request = https.request.bind(https)
    const counted = mock.method(https, 'request', (...given: Parameters<typeof https.request>) => {
      calls++
      return request(...given)
    })
    syncBuiltinESMExports()
    try {
      const beginMs = clock.monotonic()
      let looks = 0
      while (clock.monotonic() - beginMs < 10_000) {
        await observer.observeAll(limit())
        looks++
        await clock.sleep(1000, limit())
      }
      assert.ok(looks >= 5)
      assert.ok(calls <= 10, `${calls} calls in ten seconds`)
    } finally {
      counted.mock.restore()
      syncBuiltinESMExports()
      observer.close()
    }
  })

  it('of a sleeping release wait until it wakes', async () => {
    const { engine, kube } = bench
    const { items } = await kube.list(kinds.pod, { labels: { [label.service]: release.service } }, limit())
    const names = items.map(({ metadata }) => metadata.name)
    await engine.endReplicas(release.service, names, attempt())
    await kube.remove(kinds.secret, place(), limit())
    const seen = (await engine.observeAll(limit())).get(release.service)
    assert.deepEqual(seen?.state !== 'absent' && seen?.replicas, [])
    await engine.start(release, attempt())
    assert.ok(await kube.get(kinds.secret, place(), limit()))
  })
})

function withoutStatus(object: object | undefined): unknown {
  const { spec, data } = Object(object)
  return { spec, data }
}
