import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { gatherFacts, judgeCluster } from './check.ts'
import { KubeError, type Node, type StorageClass } from './client/index.ts'
import { rights, roleRules } from './rights.ts'

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
const good: Parameters<typeof judgeCluster>[0] = {
  version: { major: 1, minor: 34, text: 'v1.34.4' },
  missing: [],
  nodes: [node],
  storageClasses: [storage],
  hasMetrics: true,
  user: 'system:serviceaccount:kube-system:quayside',
  hasDomain: false,
}
const judge = (change: Partial<typeof good>) => judgeCluster({ ...good, ...change })

test('a cluster that has everything has no findings', () => {
  assert.deepEqual(judge({}), [])
})

test('an old version and no ready node block, and say what to do', () => {
  const [old] = judge({ version: { major: 1, minor: 27, text: 'v1.27.9' } })
  assert.deepEqual(old, { message: 'It runs Kubernetes v1.27.9. Upgrade it to 1.30 or later.', isBlocking: true })
  const [none] = judge({ nodes: [{ ...node, status: {} }] })
  assert.match(none?.message ?? '', /no node that is ready.*kubectl get nodes/)
  assert.ok(none?.isBlocking)
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
  const role = 'quayside-deployments-apps'
  assert.equal(
    findings[0]?.message,
    'The user of the cluster may not create, delete deployments.apps. Allow it: ' +
      `kubectl create clusterrole ${role} --verb=create,delete --resource=deployments.apps && ` +
      `kubectl create clusterrolebinding ${role} --clusterrole=${role} --serviceaccount=kube-system:quayside`,
  )
  assert.match(findings[1]?.message ?? '', /so usage is not shown/)
})

test('the command names the user that the cluster reports, and nothing that a shell would read', () => {
  const [right] = rights
  assert.ok(right)
  const command = (user: string | undefined) => judge({ user, missing: [{ right, verb: 'get' }] })[0]?.message ?? ''
  assert.match(command('ada@example.org'), / --user=ada@example\.org$/)
  for (const user of [undefined, '', '$(reboot)', 'a b', 'system:serviceaccount:a:b;c']) {
    assert.match(command(user), / --user=NAME$/, user)
  }
})

test('rights on Ingresses are needed by a cluster with a domain of its own', () => {
  const right = rights.find(({ resource }) => resource === 'ingresses')
  assert.ok(right)
  const missing = [{ right, verb: 'list' }]
  assert.equal(judge({ missing })[0]?.isBlocking, false)
  assert.equal(judge({ missing, hasDomain: true })[0]?.isBlocking, true)
})

test('the ClusterRole of the documentation has the rights that are checked, and no others', async () => {
  const text = await readFile(new URL('../../../docs/kubernetes.md', import.meta.url), 'utf8')
  const lines = text.matchAll(/- \{ apiGroups: \["?([a-z0-9.-]*)"?\], resources: \[(.*?)\], verbs: \[(.*?)\] \}/g)
  const documented = [...lines].flatMap(([, group, resources = '', verbs = '']) =>
    resources.split(', ').map((resource) => `${group}/${resource}: ${verbs}`),
  )
  const checked = rights.map(({ group, resource, verbs }) => `${group}/${resource}: ${verbs.join(', ')}`)
  assert.deepEqual(documented.toSorted(), checked.toSorted())
})

test('the ClusterRole of the chart has the rights that are checked, and no others', async () => {
  const file = new URL('../../../deploy/chart/files/rights.yaml', import.meta.url)
  assert.equal(await readFile(file, 'utf8'), roleRules(), 'run: npm run emit')
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
