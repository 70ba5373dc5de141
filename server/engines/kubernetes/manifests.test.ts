import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../lib/secret.ts'
import type { LongRunning } from '../engine.ts'
import {
  environmentLimits,
  environmentNamespace,
  environmentPolicies,
  environmentQuota,
} from './environment-objects.ts'
import { releaseObjects, volumeClaims } from './manifests.ts'
import { testRelease } from './test-release.ts'
import { labelsOfCluster } from './users-labels.ts'

const release = testRelease
const setting = { instance: 'here' }
/** The parts of an object that a test names, without their types. */
const objectOf = (kind: string, workload: Partial<LongRunning> = {}, more: object = {}) =>
  Object(releaseObjects(release(workload), { ...setting, ...more }).find((one) => one.kind === kind))
const podOf = (workload: Partial<LongRunning> = {}, more: object = {}) =>
  objectOf('Deployment', workload, more).spec.template.spec
const containerOf = (workload: Partial<LongRunning> = {}) => podOf(workload).containers[0]

test('a release is a Deployment, a Secret and a Service for each of its names', () => {
  const objects = releaseObjects(release(), setting)
  assert.deepEqual(
    objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [
      'Secret s-000000000002-000000000001',
      'Service shop',
      'Deployment s-000000000002-000000000001',
      'PodDisruptionBudget s-000000000002-000000000001',
    ],
  )
  for (const { metadata } of objects) {
    assert.equal(metadata.namespace, 'quayside-01a20b53-0000-7002-849b-000000000003')
    assert.equal(metadata.labels?.['quayside.io/instance'], 'here')
  }
})

test('a service with one replica has no disruption budget, and another one lets one replica leave', () => {
  const kindsOf = (max: number): string[] =>
    releaseObjects(release({ replicas: { min: 1, max } }), setting).map(({ kind }) => kind)
  assert.ok(!kindsOf(1).includes('PodDisruptionBudget'))
  const { spec } = objectOf('PodDisruptionBudget')
  assert.deepEqual([spec.maxUnavailable, spec.unhealthyPodEvictionPolicy], [1, 'AlwaysAllow'])
})

test('replicas run on the nodes and in the zones that their settings choose', () => {
  const pod = podOf({ nodeLabels: { disk: 'fast' }, needsOwnNodes: true, zones: 'required' })
  assert.deepEqual(pod.nodeSelector, { disk: 'fast' })
  const [rule] = pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution
  assert.equal(rule.topologyKey, 'kubernetes.io/hostname')
  assert.deepEqual(
    pod.topologySpreadConstraints.map((one: Record<string, unknown>) => [one['topologyKey'], one['whenUnsatisfiable']]),
    [
      ['kubernetes.io/hostname', 'ScheduleAnyway'],
      ['topology.kubernetes.io/zone', 'DoNotSchedule'],
    ],
  )
  assert.equal(podOf().nodeSelector, undefined)
})

test('a pod has no token, no privilege and exact limits', () => {
  const pod = podOf({}, { pullSecret: 'quayside-registry' })
  assert.equal(pod.automountServiceAccountToken, false)
  assert.equal(pod.enableServiceLinks, false)
  assert.deepEqual(pod.imagePullSecrets, [{ name: 'quayside-registry' }])
  assert.deepEqual(pod.containers[0].resources, {
    limits: { cpu: '250m', memory: '64Mi' },
    requests: { cpu: '250m', memory: '64Mi' },
  })
  const { allowPrivilegeEscalation, capabilities, seccompProfile } = pod.containers[0].securityContext
  assert.deepEqual(
    [allowPrivilegeEscalation, capabilities.drop, seccompProfile.type],
    [false, ['ALL'], 'RuntimeDefault'],
  )
})

test('a replica is asked for its readiness, and waits before it stops', () => {
  const { readinessProbe, lifecycle } = containerOf()
  assert.deepEqual(readinessProbe.tcpSocket, { port: 8080 })
  assert.deepEqual(lifecycle, { preStop: { sleep: { seconds: 2 } } })
  assert.equal(podOf().terminationGracePeriodSeconds, 12)
  const slow = podOf({}, { leaveSeconds: 5 })
  assert.deepEqual(slow.containers[0].lifecycle, { preStop: { sleep: { seconds: 5 } } })
  assert.equal(slow.terminationGracePeriodSeconds, 15)
  const portless = { ports: [] }
  assert.equal(containerOf(portless).readinessProbe, undefined)
  assert.equal(containerOf(portless).lifecycle, undefined)
  assert.equal(objectOf('Deployment', portless).spec.minReadySeconds, 3)
  assert.equal(objectOf('Service', portless).spec.clusterIP, 'None')
})

test('commands of a user, and a stop signal, run at the end of a replica', () => {
  assert.deepEqual(containerOf({ preStop: ['drain'], postStart: ['warm', 'up'] }).lifecycle, {
    postStart: { exec: { command: ['warm', 'up'] } },
    preStop: { exec: { command: ['drain'] } },
  })
  assert.deepEqual(containerOf({ stopSignal: 'SIGINT' }).lifecycle.preStop.exec.command, ['kill', '-s', 'INT', '1'])
})

test('nothing that a user writes is expanded, and no value is in the pod', () => {
  const variables = { A: '$(B)', B: new Secret('canary') }
  const files = [{ path: '/etc/app.json', content: new Secret('canary') }]
  const container = containerOf({ variables, files, entrypoint: ['sh', '-c', 'echo $(A) $$'], arguments: ['$(B)'] })
  assert.deepEqual(container.command, ['sh', '-c', 'echo $$(A) $$$$'])
  assert.deepEqual(container.args, ['$$(B)'])
  assert.ok(container.env.every((one: object) => !('value' in one)))
  assert.doesNotMatch(JSON.stringify(container), /canary/)
  const { data } = objectOf('Secret', { variables, files })
  assert.equal(Buffer.from(data['variable-0'], 'base64').toString(), '$(B)')
  assert.deepEqual(
    container.volumeMounts.map(({ mountPath, subPath }: { mountPath: string; subPath: string }) => [
      mountPath,
      subPath,
    ]),
    [['/etc/app.json', 'file-0']],
  )
})

test('labels of users reach the pods, unless they mean something to the cluster', () => {
  const labels = { team: 'a', 'example.org/cost': 'b' }
  const { metadata } = objectOf('Deployment', { labels }).spec.template
  assert.equal(metadata.labels['example.org/cost'], 'b')
  const meaningful = [
    'quayside.io/service',
    'pod-security.kubernetes.io/enforce',
    'app.kubernetes.io/name',
    'sidecar.istio.io/inject',
    'linkerd.io/inject',
    'azure.workload.identity/use',
    'aadpodidbinding',
    'AadPodIdBinding',
    'k8s-app',
    'pod-template-hash',
    'batch.kubernetes.io/job-name',
    'job-name',
    'controller-uid',
    'admission.datadoghq.com/enabled',
    'kuma.io/sidecar-injection',
    'openservicemesh.io/sidecar-injection',
    'vault.hashicorp.com/agent-inject',
    'eks.amazonaws.com/fargate-profile',
    'iam.gke.io/pool',
    'cilium.io/identity',
    'SIDECAR.ISTIO.IO/inject',
    'a b',
  ]
  for (const key of meaningful) {
    assert.throws(() => objectOf('Deployment', { labels: { [key]: 'x' } }), /has the label/, key)
  }
  assert.throws(() => objectOf('Deployment', { labels: { team: 'a b' } }), /whose value is not allowed/)
})

test('storage is a claim of its own, and its replicas are never replaced side by side', () => {
  const storage = [{ id: '01a20b53-0000-7002-849b-000000000009', mountPoint: '/data', sizeGiB: 3 }]
  const [claim] = volumeClaims(release({ storage }), 'here')
  assert.deepEqual(Object(claim).spec.resources.requests, { storage: '3Gi' })
  assert.equal(objectOf('Deployment', { storage }).spec.strategy.type, 'Recreate')
  assert.equal(podOf({ storage }).volumes[0].persistentVolumeClaim.claimName, claim?.metadata.name)
})

test('a root file system that may not be written to is read-only', () => {
  assert.equal(containerOf({ hasReadOnlyRoot: true }).securityContext.readOnlyRootFilesystem, true)
  assert.equal(containerOf().securityContext.readOnlyRootFilesystem, undefined)
})

test('an environment cannot fill the store of its cluster', () => {
  const { metadata, spec } = environmentQuota(release().environment, 'here')
  assert.equal(metadata.namespace, 'quayside-01a20b53-0000-7002-849b-000000000003')
  const most = new Map(Object.entries(spec.hard).map(([name, value]) => [name, Number(value)]))
  for (const kind of ['pods', 'services', 'secrets', 'configmaps', 'deployments.apps', 'jobs.batch']) {
    assert.ok((most.get(`count/${kind}`) ?? 0) > 0, kind)
  }
  const largest = (most.get('count/secrets') ?? 0) + (most.get('count/configmaps') ?? 0)
  assert.ok(largest < 2 * 1024, 'with one MiB each')
})

test('a container without limits gets some', () => {
  const [range] = Object(environmentLimits(release().environment, 'here').spec).limits
  assert.deepEqual(Object.keys(range.default).sort(), ['cpu', 'memory'])
  assert.deepEqual(Object.keys(range.defaultRequest).sort(), ['cpu', 'memory'])
})

test('an environment is a namespace that other environments do not reach', () => {
  const { metadata } = environmentNamespace(release().environment, 'here')
  assert.equal(metadata.labels?.['pod-security.kubernetes.io/enforce'], 'baseline')
  const { taken, problems } = labelsOfCluster({
    cost: 'shop',
    'pod-security.kubernetes.io/enforce': 'privileged',
    'quayside.io/environment': 'x',
    team: 'a b',
  })
  assert.deepEqual(taken, { cost: 'shop' })
  assert.equal(problems.length, 3)
  assert.match(problems[0] ?? '', /"pod-security.kubernetes.io\/enforce", which a cluster does not take/)
  const marked = environmentNamespace(release().environment, 'here', [], taken).metadata.labels
  assert.deepEqual(marked, { cost: 'shop', ...metadata.labels })
  const [policy] = environmentPolicies(release().environment, 'here')
  const { ingress } = Object(policy).spec
  assert.deepEqual(ingress[0].from[1].namespaceSelector.matchExpressions[0].operator, 'DoesNotExist')
})

test('pods reach no metadata service of a cloud, except the names that it or the node resolves', () => {
  const [policy] = environmentPolicies(release().environment, 'here')
  const [others, names] = Object(policy).spec.egress
  const [v4, v6] = others.to.map(({ ipBlock }: { ipBlock: object }) => ipBlock)
  // Most clouds and Amazon ECS, Alibaba, Azure.
  assert.deepEqual(v4, { cidr: '0.0.0.0/0', except: ['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32'] })
  assert.deepEqual(v6, { cidr: '::/0', except: ['fd00:ec2::254/128', 'fd20:ce::254/128'] })
  assert.equal(others.ports, undefined)
  // A NodeLocal DNSCache listens at 169.254.20.10.
  assert.equal(names.to[0].ipBlock.cidr, '169.254.0.0/16')
  assert.deepEqual(names.ports, [
    { protocol: 'UDP', port: 53 },
    { protocol: 'TCP', port: 53 },
  ])
})
