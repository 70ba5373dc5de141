import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { kubectl } from '../../../test/kubernetes/cluster/commands.ts'
import { findProcess } from '../../../test/kubernetes/cluster/processes.ts'
import { startCluster } from '../../../test/kubernetes/cluster/start.ts'
import { adminAccess, loopbackGuard, openKube } from '../../../test/kubernetes/support/access.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { Secret } from '../../lib/secret.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError } from '../engine.ts'
import { type KubeAccess, type KubeObject, kinds } from './client/index.ts'
import { resourcesOf, rightsWith } from './known-resources.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { namespaceOf } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

describe('an engine of Kubernetes on a cluster that others use', () => {
  let bench: KubernetesBench
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(() => bench?.close())

  it('puts labels and annotations of users on the objects that should have them', async () => {
    const { engine, kube, workload } = bench
    const annotations = { PODS: { 'a.test/of': 'pod' }, DEPLOYMENTS: { 'a.test/of': 'release' } }
    const release = newRelease({ ...workload('web'), annotations })
    await engine.start(release, attempt())
    const namespace = namespaceOf(release.environment)
    const pods = await kube.list(kinds.pod, { namespace }, limit())
    const deployments = await kube.list(kinds.deployment, { namespace }, limit())
    const found = [...pods.items, ...deployments.items].map(({ metadata }) => metadata.annotations?.['a.test/of'])
    assert.deepEqual(found, ['pod', 'release'])
    const labels = (await kube.get(kinds.namespace, { name: namespace }, limit()))?.metadata.labels
    assert.equal(labels?.['a.test/of'], 'cluster')
    assert.equal(labels?.['quayside.io/environment'], release.environment)
    const findings = (await engine.listFindings(limit())).map(({ message }) => message)
    assert.ok(
      findings.includes(
        'The cluster has the label "quayside.io/environment", which a cluster does not take; rename it.',
      ),
    )
  })

  it('reports a quota that is exceeded, and removes what it began', async () => {
    const { engine, kube, workload } = bench
    const release = newRelease(workload('web'))
    await engine.prepareEnvironment(release.environment, attempt())
    const namespace = namespaceOf(release.environment)
    const quota: KubeObject & { spec: object } = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'small', namespace },
      spec: { hard: { 'limits.memory': '16Mi' } },
    }
    await kube.apply(quota, limit())
    await assert.rejects(engine.start(release, attempt()), (error) => {
      assert.ok(error instanceof EngineError, String(error))
      assert.equal(error.reason, 'refused')
      assert.match(error.message, /creates no replica: .*exceeded quota: small/)
      return true
    })
    assert.deepEqual((await kube.list(kinds.deployment, { namespace }, limit())).items, [])
  })

  it('fails a version that exceeds a quota with its name, and leaves the previous one running', async () => {
    const { engine, kube, workload, answers } = bench
    const release = newRelease(workload('web'))
    const [endpoint] = await engine.start(release, attempt())
    assert.ok(endpoint)
    const namespace = namespaceOf(release.environment)
    const hards = [{ pods: '1' }, { 'limits.cpu': '150m' }, { 'count/secrets': '1' }, { 'count/deployments.apps': '1' }]
    for (const hard of hards) {
      const quota: KubeObject & { spec: object } = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'of-the-administrator', namespace },
        spec: { hard },
      }
      await kube.apply(quota, limit())
      await until('it counts', async () => {
        const { status } = (await kube.get(kinds.resourceQuota, quota.metadata, limit())) ?? {}
        return Object.keys(status?.hard ?? {}).join() === Object.keys(hard).join()
      })
      const next = { ...release, id: newRelease(workload('web')).id }
      await assert.rejects(engine.start(next, attempt()), (error) => {
        assert.ok(error instanceof EngineError, String(error))
        assert.equal(error.reason, 'refused')
        assert.match(error.message, /exceeded quota: of-the-administrator/)
        return true
      })
      const { items } = await kube.list(kinds.deployment, { namespace }, limit())
      assert.deepEqual(
        items.map(({ metadata }) => metadata.labels?.['quayside.io/release']),
        [release.id],
      )
      assert.equal(await answers(endpoint), true)
    }
    await engine.erase(release.service, attempt())
  })

  it('limits the objects of an environment, and containers that name no limits', async () => {
    const { engine, kube, workload } = bench
    const release = newRelease(workload('portless'))
    await engine.prepareEnvironment(release.environment, attempt())
    const namespace = namespaceOf(release.environment)
    const quota = await kube.get(kinds.resourceQuota, { namespace, name: 'quayside' }, limit())
    assert.equal(quota?.status?.hard?.['count/configmaps'], '300')
    const pod: KubeObject & { spec: object } = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'plain', namespace },
      spec: { containers: [{ name: 'one', image: release.workload.image }] },
    }
    const made = await kube.create(pod, limit())
    assert.deepEqual(Object(made).spec.containers[0].resources.limits, { cpu: '4', memory: '4Gi' })
    await kube.remove(kinds.pod, pod.metadata, limit(), { graceSeconds: 0 })
  })

  it('runs replicas on the nodes that their settings choose, and lets them leave one at a time', async () => {
    const { engine, kube, workload } = bench
    const nodeLabels = { 'kubernetes.io/os': 'linux' }
    const release = newRelease({ ...workload('web'), replicas: { min: 1, max: 2 }, nodeLabels })
    await engine.start(release, attempt())
    const budgets = async () =>
      (await kube.list(kinds.disruptionBudget, { namespace: namespaceOf(release.environment) }, limit())).items
    assert.equal((await budgets()).length, 1)
    await engine.retire(release.service, undefined, attempt())
    assert.deepEqual(await budgets(), [])
    const choices = [
      [{ nodeLabels: { disk: 'none' } }, /no node takes it: .*node affinity\/selector/],
      [{ replicas: { min: 2, max: 2 }, needsOwnNodes: true }, /no node takes it: .*anti-affinity/],
      [{ zones: 'required' }, /no node takes it: .*topology spread constraints/],
    ] as const
    for (const [choice, reason] of choices) {
      const refused = newRelease({ ...workload('web'), ...choice, startDeadlineSeconds: 2 })
      await assert.rejects(engine.start(refused, attempt()), reason)
    }
  })

  it('leaves a release alone that starts while another one ends', async () => {
    const { engine, kube, workload } = bench
    const former = newRelease(workload('web'))
    const next = { ...former, id: newRelease(workload('web')).id }
    const kept = { ...former, id: newRelease(workload('web')).id }
    await engine.start(former, attempt())
    // It takes its whole time to end, in which the next one starts.
    const stopping = engine.retire(former.service, kept.id, attempt())
    await until('it is being ended', async () => {
      const { items } = await kube.list(kinds.deployment, { namespace: namespaceOf(former.environment) }, limit())
      return items.some(({ spec }) => spec.replicas === 0)
    })
    await Promise.all([engine.start(next, attempt()), stopping])
    const seen = await engine.observe(former.service, limit())
    assert.deepEqual([seen.state, seen.state !== 'absent' && seen.release], ['running', next.id])
    await engine.erase(former.service, attempt())
  })

  it('fails a release that no node has room for, with the sentence of the scheduler', async () => {
    const { engine, workload } = bench
    const release = newRelease({ ...workload('web'), cpuMilli: 900_000, startDeadlineSeconds: 2 })
    await assert.rejects(engine.start(release, attempt()), /no node takes it: .*Insufficient cpu/)
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
  })

  it('touches no namespace of its name that belongs to somebody else', async () => {
    const { engine, kube, workload } = bench
    const release = newRelease(workload('web'))
    const name = namespaceOf(release.environment)
    await kube.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { of: 'others' } } }, limit())
    try {
      await assert.rejects(engine.start(release, attempt()), /belongs to somebody else/)
      await engine.eraseEnvironment(release.environment, attempt())
      const left = await kube.get(kinds.namespace, { name }, limit())
      assert.equal(left?.metadata.labels?.['of'], 'others')
      assert.equal(left?.metadata.deletionTimestamp, undefined)
    } finally {
      await kube.remove(kinds.namespace, { name }, limit())
    }
  })

  it('neither sees nor ends what another installation runs', async () => {
    const other = await openKubernetesBench({ image: image.reference() })
    try {
      const release = newRelease(other.workload('web'))
      await other.engine.start(release, attempt())
      const { engine } = bench
      assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
      assert.equal((await engine.observeAll(limit())).has(release.service), false)
      await engine.retire(release.service, undefined, attempt())
      await engine.erase(release.service, attempt())
      await engine.eraseEnvironment(release.environment, attempt())
      assert.equal((await other.engine.observe(release.service, limit())).state, 'running')
      await assert.rejects(engine.exec(release.service, ['true'], limit()), { reason: 'refused' })
    } finally {
      await other.close()
    }
  })

  it('waits for an environment of the same id that is still being deleted', async () => {
    const { engine, kube, workload } = bench
    const release = newRelease(workload('portless'))
    await engine.prepareEnvironment(release.environment, attempt())
    const before = await kube.get(kinds.namespace, { name: namespaceOf(release.environment) }, limit())
    await engine.eraseEnvironment(release.environment, attempt())
    await engine.start(release, attempt())
    const now = await kube.get(kinds.namespace, { name: namespaceOf(release.environment) }, limit())
    assert.notEqual(now?.metadata.uid, before?.metadata.uid)
    await engine.erase(release.service, attempt())
  })
})

describe('an engine whose API server is killed', () => {
  let bench: KubernetesBench
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(async () => {
    await startCluster()
    await bench?.close()
  })

  it('says so, and knows everything again when the server is back', async () => {
    const { engine, workload, answers } = bench
    const release = newRelease(workload('web'))
    const [endpoint] = await engine.start(release, attempt())
    assert.ok(endpoint)
    await until(
      'it is observed',
      async () => (await engine.observeAll(limit())).get(release.service)?.state === 'running',
    )
    const pid = await findProcess('kube-apiserver')
    assert.ok(pid, 'the API server runs')
    process.kill(pid, 'SIGKILL')
    await until('it is away', async () => {
      const error = await engine.observeAll(limit()).catch((thrown: unknown) => thrown)
      return error instanceof EngineError && error.reason === 'unreachable'
    })
    await assert.rejects(engine.observe(release.service, limit()), { reason: 'unreachable' })
    await assert.rejects(engine.start(newRelease(workload('web')), attempt()), { reason: 'unreachable' })
    assert.equal(await answers(endpoint), true)
    await startCluster()
    await until('it is observed again', async () => {
      const seen = await engine.observeAll(limit()).catch(() => undefined)
      return seen?.get(release.service)?.state === 'running'
    })
    assert.deepEqual(await engine.start(release, attempt()), [endpoint])
    await engine.erase(release.service, attempt())
  })
})

describe('a user with the documented rights', () => {
  const open = (access: Partial<KubeAccess>) =>
    new KubernetesEngine({
      access: async () => ({ ...(await adminAccess()), certificate: undefined, key: undefined, ...access }),
      instance: 'test-rights',
      guard: loopbackGuard,
      clock,
      helperImage: 'unused',
      registry: { repository: 'registry.example/here', login: async () => undefined },
    })
  let engine: KubernetesEngine
  before(async () => {
    await kubectl(['apply', '--filename=-'], { stdin: await documentedRole() })
    const token = await kubectl(['--namespace', 'kube-system', 'create', 'token', 'quayside'])
    engine = open({ token: new Secret(token.trim()) })
  })
  after(async () => {
    engine?.close()
    await kubectl(['delete', 'clusterrole,clusterrolebinding', 'quayside', '--ignore-not-found'])
    await kubectl(['--namespace', 'kube-system', 'delete', 'serviceaccount,secret', 'quayside', '--ignore-not-found'])
  })

  it('lacks nothing that blocks', async () => {
    await until('the rights are known', async () => {
      const findings = await engine.listFindings(limit())
      return findings.every(({ isBlocking }) => !isBlocking)
    })
  })

  it('lists every right that is withdrawn', async () => {
    const kube = openKube()
    const asked = rightsWith(await resourcesOf(kube, limit()))
    kube.close()
    await kubectl(['delete', 'clusterrolebinding', 'quayside'])
    await until('the rights are gone', async () => {
      const messages = (await engine.listFindings(limit())).map(({ message }) => message)
      return asked.every(({ resource }) => messages.some((message) => message.includes(` ${resource}`)))
    })
  })

  it('with a token that is not valid is refused, and the message names the kubeconfig', async (t) => {
    const stranger = open({ token: new Secret('canary-token') })
    t.after(() => stranger.close())
    await assert.rejects(stranger.observe('01a20b53-0000-7002-849b-000000000001', limit()), (error) => {
      assert.ok(error instanceof EngineError, String(error))
      assert.match(error.message, /does not accept the kubeconfig/)
      assert.doesNotMatch(error.message, /canary/)
      return true
    })
  })
})

/** Returns the objects of the first step of docs/kubernetes.md. */
async function documentedRole(): Promise<string> {
  const page = await readFile(join(resolve(import.meta.dirname, '..', '..', '..'), 'docs', 'kubernetes.md'), 'utf8')
  const [, block = ''] = page.split('```yaml\n')
  return block.slice(0, block.indexOf('```')).replaceAll(/^ {3}/gm, '')
}
