import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quantity } from './capacity.ts'
import type { Pod } from './client/index.ts'
import { label } from './labels.ts'
import { runName } from './names.ts'
import { toObservation } from './observe.ts'
import { type DeploymentState, keyOfRelease, toPodState } from './pod-state.ts'
import { momentOf } from './printed.ts'
import { replicasWithout } from './retire.ts'
import { finalReason } from './waiting.ts'

const now = new Date('2026-01-01T00:10:00Z')
const deployment = (release: string, change: Partial<DeploymentState> = {}): DeploymentState => ({
  name: release,
  namespace: 'n',
  service: 's',
  release,
  createdAt: '2026-01-01T00:00:00Z',
  replicas: 1,
  isHeld: false,
  available: 1,
  isSeen: true,
  refusal: undefined,
  own: { isChanged: false, objects: [] },
  ...change,
})
type Status = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]
const pod = (name: string, release: string, status: Partial<Status>, more: NonNullable<Pod['status']> = {}) =>
  toPodState({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'n', labels: { [label.service]: 's', [label.release]: release } },
    spec: { containers: [{ name: 'main', image: 'i' }] },
    status: {
      podIP: '10.0.0.1',
      containerStatuses: [{ name: 'main', ready: true, restartCount: 0, ...status }],
      ...more,
    },
  })
const running = { state: { running: { startedAt: '2026-01-01T00:00:01Z' } } }
const crashing = {
  restartCount: 3,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode: 3, reason: 'Error' } },
}

test('a service without a Deployment is absent, and one without replicas is stopped', () => {
  assert.deepEqual(toObservation([], [], now), { state: 'absent' })
  const seen = toObservation([deployment('a', { replicas: 0 })], [], now)
  assert.deepEqual([seen.state, seen.state !== 'absent' && seen.replicas], ['stopped', []])
})

test('of two releases, the newest that runs completely is observed, with the replicas of both', () => {
  const newer = deployment('b', { createdAt: '2026-01-01T00:05:00Z' })
  const both = [pod('one', 'a', running), pod('two', 'b', { state: { waiting: { reason: 'ContainerCreating' } } })]
  const starting = toObservation([deployment('a'), newer], both, now)
  assert.ok(starting.state === 'running' && starting.release === 'a' && starting.replicas.length === 2)
  const after = toObservation([deployment('a'), newer], [pod('one', 'a', running), pod('two', 'b', running)], now)
  assert.ok(after.state === 'running' && after.release === 'b')
})

test('a replica that keeps exiting fails, with its exit code and the number of exits', () => {
  const seen = toObservation([deployment('a')], [pod('one', 'a', crashing)], now)
  assert.ok(seen.state === 'failing')
  assert.equal(seen.reason, 'exited with code 3, 4 times')
})

test('a replica that no node takes says why', () => {
  const conditions = [
    { type: 'PodScheduled', status: 'False' as const, reason: 'Unschedulable', message: '0/1 nodes: Insufficient cpu' },
  ]
  const waiting = pod('one', 'a', {}, { conditions, containerStatuses: [] })
  const seen = toObservation([deployment('a', { replicas: 2 })], [pod('two', 'a', running), waiting], now)
  assert.ok(seen.state === 'starting')
  assert.equal(seen.reason, '1 of 2 replicas is missing: no node takes it: 0/1 nodes: Insufficient cpu')
})

test('a refusal of the cluster is the reason', () => {
  const seen = toObservation([deployment('a', { refusal: 'exceeded quota: small' })], [], now)
  assert.equal(seen.state !== 'absent' && seen.reason, 'the cluster creates no replica: exceeded quota: small')
})

test('an image that does not exist is final, and a registry that is away is not', () => {
  const reason = (message: string) => finalReason({ reason: 'ErrImagePull', message }, 'x')?.reason
  assert.equal(reason('failed to resolve reference: not found'), 'image-missing')
  assert.equal(reason('dial tcp: connection refused'), undefined)
})

test('ending replicas twice shrinks a release once', () => {
  const pods = ['one', 'two', 'three'].map((name) => pod(name, 'a', running))
  const release = deployment('a', { replicas: 3 })
  assert.equal(replicasWithout(release, pods, new Set(['one'])), 2)
  assert.equal(replicasWithout({ ...release, replicas: 2 }, pods, new Set(['one'])), undefined)
  assert.equal(replicasWithout(release, pods, new Set(['unknown'])), undefined)
})

test('quantities, times and names are read in every form that Kubernetes writes', () => {
  assert.deepEqual(['1930m', '2', '24Gi', '1e3', '5M', 'x', undefined].map(quantity), [
    1.93,
    2,
    24 * 1024 ** 3,
    1000,
    5e6,
    0,
    0,
  ])
  assert.equal(momentOf('2026-01-01T00:00:00.5Z'), '2026-01-01T00:00:00.500000000Z')
  assert.equal(momentOf('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00.000000000Z')
  assert.equal(momentOf('no time'), undefined)
  assert.equal(runName('a'), 'run-a')
  assert.ok(runName('a'.repeat(80)).length <= 57)
})

test('a replica whose node does not answer does not run, and the reason names the node', () => {
  const conditions = [
    { type: 'Ready', status: 'False' },
    { type: 'ContainersReady', status: 'True' },
  ] as const
  const lost = pod('one', 'a', running, { conditions })
  const seen = toObservation([deployment('a')], [lost], now)
  assert.ok(seen.state === 'starting')
  assert.match(seen.reason ?? '', /^1 of 1 replicas is missing: its node .* does not answer the cluster$/)
  assert.deepEqual(seen.replicas[0]?.endpoints, [])
  // A replica that fails its readiness probe is reported as not ready by its node as well.
  const unready = [
    { type: 'Ready', status: 'False' },
    { type: 'ContainersReady', status: 'False' },
  ] as const
  const slow = pod('one', 'a', { ...running, ready: false }, { conditions: unready })
  assert.equal(toObservation([deployment('a')], [slow], now).state, 'running')
})

test('a pod of a hostile API server has no address of this machine, and no text that does harm', () => {
  const waiting = { reason: 'Wait\u0000', message: `\u001b[2J${'x'.repeat(100_000)}` }
  const { message } = pod('one', 'a', { state: { waiting } }).waiting ?? assert.fail('it waits')
  assert.ok(message.length <= 1_000)
  assert.doesNotMatch(message, /\p{Cc}/u)
  for (const podIP of ['127.0.0.1', '169.254.169.254', '::1', 'not an address']) {
    const state = pod('one', 'a', running, { podIP })
    assert.deepEqual([state.running, state.address], [false, undefined])
  }
})
test('replicas of a changed release are reported as changed, and no others', () => {
  const pods = [pod('a', 'old', running), pod('b', 'new', running)]
  const changed = new Set([keyOfRelease({ service: 's', release: 'new' })])
  const seen = toObservation([deployment('old'), deployment('new')], pods, now, changed)
  const flags = seen.state === 'absent' ? [] : seen.replicas.map(({ release, isChanged }) => [release, isChanged])
  assert.deepEqual(flags, [
    ['old', undefined],
    ['new', true],
  ])
})

test('a replica that does not pass its readiness probe gets no traffic', () => {
  const ready = { conditions: [{ type: 'Ready', status: 'True' }] } as const
  const pods = [pod('a', 'new', running), pod('b', 'new', running, ready)]
  const seen = toObservation([deployment('new', { replicas: 2 })], withPorts(pods), now)
  assert.deepEqual(
    seen.state !== 'absent' && seen.replicas.map(({ running: up, endpoints }) => [up, endpoints.length]),
    [
      [true, 0],
      [true, 1],
    ],
  )
})

const withPorts = (pods: ReturnType<typeof pod>[]) => pods.map((one) => ({ ...one, ports: [8080] }))
