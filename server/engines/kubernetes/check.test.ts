import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClusterFacts, gatherFacts, judgeCluster } from './check.ts'
import { KubeError, type Node, type StorageClass } from './client/index.ts'
import { rights } from './rights.ts'

const node: Node = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'one' },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
}
const storage: StorageClass = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  provisioner: 'x',
}
const good: ClusterFacts & { readonly hasRegistry: boolean } = {
  version: { major: 1, minor: 34, text: 'v1.34.4' },
  missing: [],
  nodes: [node],
  storageClasses: [storage],
  hasMetrics: true,
  hasRegistry: true,
}
const judge = (change: Partial<typeof good>) => judgeCluster({ ...good, ...change })

test('a cluster that has everything has no findings', () => {
  assert.deepEqual(judge({}), [])
})

test('an old version, no ready node and no registry block, and say what to do', () => {
  const [old] = judge({ version: { major: 1, minor: 27, text: 'v1.27.9' } })
  assert.deepEqual(old, { message: 'It runs Kubernetes v1.27.9. Upgrade it to 1.30 or later.', isBlocking: true })
  const [none] = judge({ nodes: [{ ...node, status: {} }] })
  assert.match(none?.message ?? '', /no node that is ready.*kubectl get nodes/)
  const [registry] = judge({ hasRegistry: false })
  assert.match(registry?.message ?? '', /QUAYSIDE_CLUSTER_REGISTRY/)
  assert.ok(none?.isBlocking && registry?.isBlocking)
})

test('missing rights are one finding for each kind, with the command that adds them', () => {
  const [deployments, metrics] = ['deployments', 'pods'].map((resource, index) =>
    rights.find((one) => one.resource === resource && (one.group === 'metrics.k8s.io') === (index === 1)),
  )
  assert.ok(deployments && metrics)
  const findings = judge({
    missing: [
      { right: metrics, verb: 'list' },
      { right: deployments, verb: 'create' },
      { right: deployments, verb: 'delete' },
    ],
  })
  assert.deepEqual(
    findings.map(({ isBlocking }) => isBlocking),
    [true, false],
  )
  assert.match(
    findings[0]?.message ?? '',
    /may not create, delete deployments\. .*create clusterrole NAME --verb=create,delete --resource=deployments\.apps/,
  )
  assert.match(findings[1]?.message ?? '', /so usage is not shown/)
})

test('storage and metrics are advice', () => {
  const findings = judge({ storageClasses: [], hasMetrics: false })
  assert.deepEqual(
    findings.map(({ isBlocking }) => isBlocking),
    [false, false],
  )
  assert.match(findings[0]?.message ?? '', /kubectl annotate storageclass/)
  assert.match(findings[1]?.message ?? '', /kubectl apply -f/)
})

test('a metrics API that is away is a finding, however long the rest of the check takes', async () => {
  const list = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return { items: [], resourceVersion: '1' }
  }
  const kube = {
    version: async () => good.version,
    create: async () => ({ status: { allowed: true } }),
    list,
    raw: async () => Promise.reject(new KubeError(503, 'Status503', 'service unavailable')),
  }
  // The check uses these four calls and nothing else of its host.
  const host = { kube } as unknown as Parameters<typeof gatherFacts>[0]
  assert.equal((await gatherFacts(host, new AbortController().signal)).hasMetrics, false)
})
