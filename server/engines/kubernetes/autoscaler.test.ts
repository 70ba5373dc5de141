import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LongRunning } from '../engine.ts'
import { autoscalers, beginningReplicas, isAutoscaled, ownsReplicas } from './autoscaler.ts'
import type { Deployment } from './client/index.ts'
import { judgeStart, type StartView } from './health.ts'
import { releaseObjects } from './manifests.ts'
import type { PodState } from './pod-state.ts'
import { testRelease } from './test-release.ts'

const scaled: Partial<LongRunning> = { replicas: { min: 2, max: 5 }, targets: { cpuPercent: 70 } }
const deploymentWith = (replicas: number | undefined, managedFields: object[] = []): Deployment => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a', managedFields },
  spec: replicas === undefined ? {} : { replicas },
})

test('a release whose number of replicas may change has an autoscaler and no number of its own', () => {
  const objects = releaseObjects(testRelease(scaled), { instance: 'here' })
  const of = (kind: string) => Object(objects.find((one) => one.kind === kind))
  assert.deepEqual(of('HorizontalPodAutoscaler').spec, {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: of('Deployment').metadata.name },
    minReplicas: 2,
    maxReplicas: 5,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } }],
  })
  assert.equal('replicas' in of('Deployment').spec, false)
  assert.equal(of('HorizontalPodAutoscaler').metadata.labels['quayside.io/instance'], 'here')
})

test('an autoscaler follows memory only if the settings name it', () => {
  const namesOf = (targets: NonNullable<LongRunning['targets']>) => {
    const [{ spec } = { spec: {} }] = autoscalers(testRelease({ ...scaled, targets }), { name: 'a' })
    return Object(spec).metrics.map(({ resource }: { resource: { name: string } }) => resource.name)
  }
  assert.deepEqual(namesOf({ cpuPercent: 60 }), ['cpu'])
  assert.deepEqual(namesOf({ cpuPercent: 60, memoryPercent: 80 }), ['cpu', 'memory'])
})

test('a release with a fixed number of replicas keeps it', () => {
  for (const workload of [
    { replicas: { min: 2, max: 2 }, targets: { cpuPercent: 60 } },
    { replicas: { min: 0, max: 1 }, targets: { cpuPercent: 60 } },
    { replicas: { min: 1, max: 3 } },
  ]) {
    assert.equal(isAutoscaled(workload), false)
    const objects = releaseObjects(testRelease(workload), { instance: 'here' })
    assert.ok(!objects.some(({ kind }) => kind === 'HorizontalPodAutoscaler'))
    assert.ok(Object(objects.find(({ kind }) => kind === 'Deployment')).spec.replicas >= 1)
  }
})

test('a new version begins with as many replicas as the running one, within its settings', () => {
  const begins = (...others: number[]) =>
    beginningReplicas(
      { replicas: { min: 2, max: 5 } },
      others.map((count) => deploymentWith(count)),
    )
  assert.deepEqual([begins(), begins(0), begins(1), begins(4, 0), begins(9)], [2, 2, 2, 4, 5])
})

test('a number of replicas that an earlier apply owns is recognised', () => {
  const entry = (manager: string, operation: string, fieldsV1: object) => ({ manager, operation, fieldsV1 })
  const own = { 'f:spec': { 'f:replicas': {} } }
  assert.equal(ownsReplicas(deploymentWith(1, [entry('quayside', 'Apply', own)])), true)
  assert.equal(ownsReplicas(deploymentWith(1, [entry('quayside', 'Update', own)])), false)
  assert.equal(ownsReplicas(deploymentWith(1, [entry('quayside-scale', 'Apply', own)])), false)
  assert.equal(ownsReplicas(deploymentWith(1, [entry('quayside', 'Apply', { 'f:spec': {} })])), false)
  assert.equal(ownsReplicas(deploymentWith(1)), false)
})

const pod = (name: string, state: 'ready' | 'starting' | 'no node'): PodState => ({
  name,
  namespace: 'n',
  service: 's',
  release: 'r',
  container: 'main',
  containers: [],
  isOfChart: false,
  run: undefined,
  node: undefined,
  createdAt: '',
  isLeaving: false,
  running: state !== 'no node',
  isReady: state === 'ready',
  address: '10.0.0.1',
  exits: 0,
  exitCode: undefined,
  outOfMemory: false,
  startedAt: undefined,
  finishedAt: undefined,
  image: '',
  ports: [],
  waiting: state === 'no node' ? { reason: 'Unschedulable', message: 'full' } : undefined,
})
const view = (needed: number, pods: PodState[], refusal?: string): StartView => ({
  deployment: {
    name: 'a',
    namespace: 'n',
    service: 's',
    release: 'r',
    createdAt: '',
    replicas: needed,
    available: pods.length,
    isSeen: true,
    refusal,
    isHeld: false,
    own: { isChanged: false, objects: [] },
  },
  pods,
  exitsBefore: new Map(),
  needed,
})
const readyCount = (start: StartView, workload = scaled): number | string | undefined => {
  const verdict = judgeStart(testRelease(workload), start)
  if (!verdict) return undefined
  return 'healthy' in verdict ? verdict.healthy.length : verdict.failure.message
}

test('a start with replicas of an autoscaler waits for those that the cluster has room for', () => {
  const [ready, starting, unplaced] = [pod('a', 'ready'), pod('b', 'starting'), pod('c', 'no node')]
  const other = pod('d', 'ready')
  assert.equal(readyCount(view(2, [ready, other])), 2)
  assert.equal(readyCount(view(2, [ready, other, starting])), 2, 'the autoscaler adds one')
  assert.equal(readyCount(view(3, [ready, other, starting])), undefined)
  assert.equal(readyCount(view(3, [ready, other])), undefined, 'the third is not created yet')
  assert.equal(readyCount(view(3, [ready, other, unplaced])), 2)
  assert.equal(readyCount(view(2, [ready, unplaced])), undefined, 'fewer than the least')
  assert.equal(readyCount(view(3, [ready, other], 'exceeded quota: small')), 2)
  assert.match(String(readyCount(view(2, [ready], 'exceeded quota: small'))), /exceeded quota: small/)
})

test('a start with a fixed number of replicas waits for exactly that number', () => {
  const fixed = { replicas: { min: 2, max: 2 } }
  const [ready, other, third] = [pod('a', 'ready'), pod('b', 'ready'), pod('c', 'ready')]
  assert.equal(readyCount(view(2, [ready, other]), fixed), 2)
  assert.equal(readyCount(view(2, [ready, other, third]), fixed), undefined)
})
