import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { kubectl } from '../../../test/kubernetes/cluster/commands.ts'
import { until } from '../../../test/support/until.ts'
import { newId } from '../../lib/id.ts'
import { node } from '../docker/test-bench.ts'
import { taskOf } from '../docker/test-task-bench.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { EngineError, type LongRunning, type Release, type Task } from '../engine.ts'
import { isKubeError, type Kind, type KubeObject, kinds } from './client/index.ts'
import { namespaceOf, releaseName, runName, volumeName } from './names.ts'
import { type KubernetesBench, openKubernetesBench } from './test-bench.ts'
import { usePublishedImage } from './test-image.ts'

// Clusters on which somebody else has rules, objects and troubles of their own.

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
let bench: KubernetesBench
const useCluster = (): void => {
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(() => bench?.close())
}

const web = (change: Partial<LongRunning> = {}): Release => newRelease({ ...bench.workload('web'), ...change })

/** Creates the namespace of a release, and returns its name. */
async function prepare({ environment }: Pick<Release, 'environment'>): Promise<string> {
  await bench.engine.prepareEnvironment(environment, attempt())
  return namespaceOf(environment)
}

/** Starts a release that is refused, and returns the message. */
async function refusal(release: Release, reason: EngineError['reason'] = 'refused'): Promise<string> {
  const error = await bench.engine.start(release, attempt()).then(
    () => assert.fail('it started'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.reason, reason, error.message)
  return [error.message, ...error.lastLines].join('\n')
}

/** Asserts that a message contains all of these parts. */
const says = (message: string, ...parts: readonly string[]): void => {
  for (const part of parts) assert.ok(message.includes(part), `${message} does not contain ${part}`)
}

const kindsOfRelease: readonly Kind[] = [kinds.deployment, kinds.secret, kinds.service, kinds.disruptionBudget]

/** Returns what is left of a release, by kind and name. */
async function leftOf({ environment, service }: Release): Promise<string[]> {
  const lists = await Promise.all(
    kindsOfRelease.map(async (kind) => {
      const selection = { namespace: namespaceOf(environment), labels: { 'quayside.io/service': service } }
      const { items } = await bench.kube.list(kind, selection, limit())
      return items.map(({ metadata }) => `${kind.kind} ${metadata.name}`)
    }),
  )
  return lists.flat()
}

describe('a start on a cluster', () => {
  useCluster()
  it('whose namespace is not deleted says what keeps it, and works once that is gone', async () => {
    const release = web()
    const namespace = await prepare(release)
    const place = { namespace, name: 'kept' }
    const kept = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...place, finalizers: ['test.example/keep'] },
    }
    await bench.kube.create(kept, limit())
    await bench.engine.eraseEnvironment(release.environment, attempt())
    const message = await refusal(release)
    says(message, `the namespace ${namespace} is still being deleted: `, 'configmaps', 'test.example/keep')
    await bench.kube.patch(kinds.configMap, place, { metadata: { finalizers: null } }, limit())
    assert.equal((await bench.engine.start(release, attempt())).length, 1)
    await bench.engine.erase(release.service, attempt())
  })

  for (const [resource, said] of [
    ['deployments', /^the cluster refused it: .*ValidatingAdmissionPolicy.*no thanks/],
    ['pods', /^the cluster creates no replica: .*ValidatingAdmissionPolicy.*no thanks/],
  ] as const) {
    it(`with a policy that refuses ${resource} names the policy, and leaves nothing`, async (t) => {
      const release = web({ replicas: { min: 1, max: 2 } })
      const namespace = await prepare(release)
      const name = `${bench.instance}-${resource}`
      t.after(() =>
        kubectl(['delete', 'validatingadmissionpolicy,validatingadmissionpolicybinding', name, '--ignore-not-found']),
      )
      await kubectl(['apply', '--filename=-'], { stdin: policyAgainst(name, namespace, resource) })
      const object = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: 'probe' },
        spec: { containers: [{ name: 'a', image: 'a' }] },
      }
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: object.metadata,
        spec: {
          selector: { matchLabels: { a: 'b' } },
          template: { metadata: { labels: { a: 'b' } }, spec: object.spec },
        },
      }
      await until('the policy acts', async () => {
        const trial = bench.kube.apply<KubeObject>(resource === 'pods' ? object : deployment, limit(), { dryRun: true })
        return trial.then(
          () => false,
          (error: unknown) => isKubeError(error, 422, 403) && error.message.includes('no thanks'),
        )
      })
      assert.match(await refusal(release), said)
      assert.deepEqual(await leftOf(release), [])
      assert.deepEqual(await bench.engine.observe(release.service, limit()), { state: 'absent' })
    })
  }

  it('with a storage class that does not exist names the volume and the class', async () => {
    const id = newId()
    const release = web({ storage: [{ id, mountPoint: '/data', sizeGiB: 1 }], startDeadlineSeconds: 2 })
    const namespace = await prepare(release)
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: volumeName(id), namespace, labels: { 'quayside.io/instance': bench.instance } },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'missing',
        resources: { requests: { storage: '1Gi' } },
      },
    }
    await bench.kube.create(claim, limit())
    const message = await refusal(release, 'not-ready')
    assert.match(message, /no node takes it: .*PersistentVolumeClaim/)
    says(message, `the volume ${volumeName(id)} of the storage class missing is not there: `, '"missing"')
  })

  it('keeps the size of a volume that shrinks, and says which volume cannot grow', async () => {
    const id = newId()
    const of = (sizeGiB: number) => ({ storage: [{ id, mountPoint: '/data', sizeGiB }] })
    const first = web(of(2))
    await bench.engine.start(first, attempt())
    const lines: string[] = []
    const output = { line: (line: string) => void lines.push(line) }
    const smaller = { ...web(of(1)), service: first.service, environment: first.environment }
    await bench.engine.start(smaller, { signal: limit(), output })
    assert.ok(lines.includes(`The volume ${volumeName(id)} keeps its 2 GiB: a volume of a cluster does not shrink.`))
    await bench.engine.retire(first.service, smaller.id, attempt())
    const larger = { ...web(of(3)), service: first.service, environment: first.environment }
    const message = await refusal(larger)
    says(message, `the volume ${volumeName(id)} has 2 GiB and cannot grow to 3 GiB: `, 'set the storage')
    const seen = await bench.engine.observe(first.service, limit())
    assert.deepEqual([seen.state, seen.state !== 'absent' && seen.release], ['running', smaller.id])
    await bench.engine.erase(first.service, attempt())
  })

  it('says that an image is for another architecture', async () => {
    const message = await refusal(web({ entrypoint: ['foreign'], arguments: [] }), 'crashed')
    assert.match(message, /its image is built for another architecture/)
  })

  it('with a run that no quota allows says so, and does not wait for it', async () => {
    const task: Release<Task> = { ...web(), workload: { ...taskOf(image.reference(), 'works'), cpuMilli: 100 } }
    const namespace = await prepare(task)
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'small', namespace },
      spec: { hard: { 'limits.memory': '1Mi' } },
    }
    await bench.kube.create(quota, limit())
    const run = newId()
    await bench.engine.prepareTask(task, run, attempt())
    await assert.rejects(bench.engine.runTask(task, run, attempt()), (error) => {
      assert.ok(error instanceof EngineError && error.reason === 'refused', String(error))
      assert.match(error.message, /^the cluster creates no pod of the run: .*exceeded quota: small/)
      return true
    })
    await bench.engine.endTask(run, attempt())
    assert.deepEqual(await bench.engine.listTasks(limit()), [])
  })
})

/** Objects of somebody else, each with a name that a release needs. */
const foreign: readonly (readonly [
  string,
  Kind,
  (release: Release) => KubeObject & { readonly [more: string]: unknown },
])[] = [
  [
    'Secret',
    kinds.secret,
    (release) => object(release, 'v1', 'Secret', releaseName(release), { stringData: { of: 'others' } }),
  ],
  [
    'Service',
    kinds.service,
    (release) =>
      object(release, 'v1', 'Service', 'web', { spec: { ports: [{ port: 1 }], selector: { of: 'others' } } }),
  ],
  [
    'PodDisruptionBudget',
    kinds.disruptionBudget,
    (release) =>
      object(release, 'policy/v1', 'PodDisruptionBudget', releaseName(release), {
        spec: { maxUnavailable: 1, selector: { matchLabels: { of: 'others' } } },
      }),
  ],
  [
    'NetworkPolicy',
    kinds.networkPolicy,
    (release) =>
      object(release, 'networking.k8s.io/v1', 'NetworkPolicy', 'quayside-isolation', { spec: { podSelector: {} } }),
  ],
  [
    'PersistentVolumeClaim',
    kinds.volumeClaim,
    (release) =>
      object(release, 'v1', 'PersistentVolumeClaim', volumeName(release.workload.storage[0]?.id ?? ''), {
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
  ],
]

const object = ({ environment }: Release, apiVersion: string, kind: string, name: string, more: object) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: namespaceOf(environment), labels: { of: 'others' } },
  ...more,
})

describe('objects of somebody else in a namespace of the platform', () => {
  useCluster()
  for (const [what, kind, make] of foreign) {
    it(`are left alone: a ${what} with a name that a release needs fails its start`, async () => {
      const release = web({
        aliases: ['web'],
        replicas: { min: 1, max: 2 },
        storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }],
      })
      const namespace = await prepare(release)
      const theirs = make(release)
      const place = { namespace, name: theirs.metadata.name }
      await bench.kube.remove(kind, place, limit())
      const before = await bench.kube.create(theirs, limit())
      const message = await refusal(release)
      says(message, `the ${what} ${place.name} in the namespace ${namespace} belongs to somebody else`)
      const after = await bench.kube.get(kind, place, limit())
      assert.equal(after?.metadata.uid, before.metadata.uid)
      assert.deepEqual(after?.metadata.labels, { of: 'others' })
      assert.deepEqual(await leftOf(release), [])
    })
  }

  it('are left alone: a Job with the name of a run is not begun', async () => {
    const task: Release<Task> = { ...web(), workload: taskOf(image.reference(), 'works') }
    const namespace = await prepare(task)
    const run = newId()
    const job = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: runName(run), namespace, labels: { of: 'others' } },
      spec: {
        suspend: true,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } },
      },
    }
    await bench.kube.create(job, limit())
    await assert.rejects(bench.engine.prepareTask(task, run, attempt()), /the Job .* belongs to somebody else/)
    await bench.engine.endTask(run, attempt())
    const left = await bench.kube.get(kinds.job, { namespace, name: runName(run) }, limit())
    assert.equal(left?.spec.suspend, true)
  })
})

describe('the names of a service', () => {
  useCluster()
  const ports = (internalPort: number) => [{ name: 'web', internalPort, protocol: 'HTTP' }] as const
  const portsNow = async ({ environment }: Release) => {
    const found = await bench.kube.get(kinds.service, { namespace: namespaceOf(environment), name: 'web' }, limit())
    return found?.spec?.ports?.map(({ port }) => port) ?? []
  }

  it('keep the ports of the running release until the next one is healthy', async () => {
    const first = web({ aliases: ['web'], ports: ports(8080) })
    const next = (change: Partial<LongRunning>): Release => ({
      ...web({ aliases: ['web'], ...change }),
      service: first.service,
      environment: first.environment,
    })
    await bench.engine.start(first, attempt())
    await refusal(next({ ports: ports(9090), ...node('process.exit(3)') }), 'crashed')
    assert.deepEqual(await portsNow(first), [8080])
    const program = "require('http').createServer((q,s)=>s.end('ok')).listen(9090)"
    const starting = bench.engine.start(
      next({
        ports: ports(9090),
        ...node(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0,3000);${program}`),
      }),
      attempt(),
    )
    await until('both ports are there', async () => (await portsNow(first)).toSorted().join() === '8080,9090')
    await starting
    assert.deepEqual(await portsNow(first), [9090])
    await bench.engine.start(next({ ports: [], ...node("require('net').createServer().listen(9999)") }), attempt())
    assert.deepEqual(await portsNow(first), [])
    await bench.engine.erase(first.service, attempt())
  })
})

const policyAgainst = (name: string, namespace: string, resource: string): string =>
  [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          resourceRules: [
            { apiGroups: ['', 'apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: [resource] },
          ],
        },
        validations: [{ expression: 'false', message: 'no thanks' }],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ]
    .map((one) => JSON.stringify(one))
    .join('\n---\n')
