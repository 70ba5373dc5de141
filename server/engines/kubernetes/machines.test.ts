import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, Pod } from './client/index.ts'
import { KubeError } from './client/index.ts'
import { machinesOf, readMachines, toNode } from './machines.ts'

const nodeOf = (name: string, more: Partial<Node> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, creationTimestamp: '2026-01-02T03:04:05Z' },
  status: {
    capacity: { cpu: '4', memory: '16Gi', pods: '110' },
    allocatable: { cpu: '3920m', memory: '15Gi', pods: '110' },
    conditions: [
      { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: 'enough' },
      { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'kubelet is posting ready status' },
    ],
    nodeInfo: {
      architecture: 'amd64',
      kubeletVersion: 'v1.33.1',
      kernelVersion: '6.12.0',
      operatingSystem: 'linux',
      osImage: 'Debian GNU/Linux 13 (trixie)',
    },
  },
  ...more,
})
type Requests = Readonly<Record<string, string>>
const podOn = (nodeName: string, all: readonly Requests[], first: readonly Requests[] = []): Pod => {
  const containersOf = (list: readonly Requests[]) =>
    list.map((requests, index) => ({ name: `c${index}`, resources: { requests } }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pod' },
    spec: { nodeName, containers: containersOf(all), initContainers: containersOf(first) },
  }
}

test('a node has its pods, the amounts that they reserve, and its use', () => {
  const pods = [
    podOn('one', [{ cpu: '250m', memory: '128Mi' }, { cpu: '1' }]),
    podOn('one', [{ memory: '64Mi' }], [{ cpu: '500m', memory: '32Mi' }]),
    podOn('two', [{}]),
  ]
  const measured = new Map([['one', { cpu: '1234567890n', memory: '2Gi' }]])
  const [one, two] = machinesOf([nodeOf('two'), nodeOf('one')].map(toNode), pods, measured)
  assert.partialDeepStrictEqual(one, {
    name: 'one',
    version: 'v1.33.1',
    distribution: 'Debian GNU/Linux 13 (trixie)',
    createdAt: new Date('2026-01-02T03:04:05Z'),
    capacity: { cpuMilli: 4000, memoryMiB: 16_384 },
    allocatable: { cpuMilli: 3920, memoryMiB: 15_360 },
    requested: { cpuMilli: 1750, memoryMiB: 192 },
    used: { cpuMilli: 1235, memoryMiB: 2048 },
    ...{ pods: 2, podLimit: 110, isSchedulable: true },
  })
  assert.equal(one?.conditions.find(({ type }) => type === 'Ready')?.status, 'True')
  assert.deepEqual([two?.pods, two?.requested, two?.used], [1, { cpuMilli: 0, memoryMiB: 0 }, undefined])
})

test('a cordoned node accepts no pods, and a hostile condition is cut', () => {
  const message = `${'x'.repeat(5_000)}\n\u001b[31m`
  const status = {
    conditions: Array.from({ length: 100 }, () => ({ type: 'Ready', status: 'True' as const, message })),
  }
  const [machine] = machinesOf([toNode(nodeOf('one', { spec: { unschedulable: true }, status }))], [], new Map())
  assert.equal(machine?.isSchedulable, false)
  assert.equal(machine?.conditions.length, 30)
  assert.ok((machine?.conditions[0]?.message.length ?? 0) <= 1_000)
  assert.equal(machine?.podLimit, undefined)
})

test('without the metrics API the use of the nodes is unknown, and another failure is one', async () => {
  const kubeWith = (error: Error) => ({
    list: async () => ({ items: [], resourceVersion: '1' }),
    raw: () => Promise.reject(error),
  })
  // The two members are all that it reads.
  const read = (error: Error) =>
    readMachines({ kube: kubeWith(error) } as never, [nodeOf('one')], AbortSignal.timeout(1_000))
  const [machine] = await read(new KubeError(404, 'NotFound', 'the server could not find the requested resource'))
  assert.deepEqual([machine?.name, machine?.used], ['one', undefined])
  await assert.rejects(read(new KubeError(500, 'InternalError', 'broken')), /broken/)
})
