import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { readSettings } from '../../server/config.ts'
import { rights } from '../../server/engines/kubernetes/rights.ts'
import { readKeyFile } from '../../server/vault/key-file.ts'
import { kubectl } from './cluster/commands.ts'
import { chart, helm, neededValues, refusalOf, render, type Values } from './support/helm.ts'

// What the chart makes of its values. Only the last tests ask a cluster.

type Manifest = Readonly<Record<string, never>>

async function objects(values: Values = {}): Promise<Map<string, Manifest>> {
  const text = await render({ ...neededValues, ...values })
  const found = parseAllDocuments(text).flatMap((document) => {
    const object = document.toJS()
    return object ? [[`${object.kind}/${object.metadata.name}`, object] as const] : []
  })
  return new Map(found)
}

/** Reads a part of an object by its path. */
const at = (object: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((value, key) => Object(value)[key], object)

const pod = async (values: Values = {}) => at((await objects(values)).get('Deployment/quayside'), 'spec', 'template')
const environment = async (values: Values = {}) => {
  // The chart renders this form.
  const listed = at(await pod(values), 'spec', 'containers', 0, 'env') as { name: string; value?: string }[]
  return new Map(listed.map(({ name, value }) => [name, value]))
}

test('the chart has no finding of lint', async () => {
  const out = await helm(['lint', '--strict', chart, '--kube-version', '1.34.4'], neededValues)
  assert.match(out, /0 chart\(s\) failed/)
})

test('one server has its own volume, and several share one and keep a budget', async () => {
  const one = await objects()
  assert.deepEqual(at(one.get('PersistentVolumeClaim/quayside-data'), 'spec', 'accessModes'), ['ReadWriteOnce'])
  assert.equal(at(one.get('Deployment/quayside'), 'spec', 'strategy', 'type'), 'Recreate')
  assert.equal(one.has('PodDisruptionBudget/quayside'), false)
  const several = await objects({ replicas: 3 })
  assert.deepEqual(at(several.get('PersistentVolumeClaim/quayside-data'), 'spec', 'accessModes'), ['ReadWriteMany'])
  assert.deepEqual(at(several.get('Deployment/quayside'), 'spec', 'strategy', 'rollingUpdate'), {
    maxSurge: 1,
    maxUnavailable: 0,
  })
  assert.equal(at(several.get('PodDisruptionBudget/quayside'), 'spec', 'maxUnavailable'), 1)
})

test('the server runs without root, capabilities, a writable root and variables of Services', async () => {
  const spec = at(await pod(), 'spec')
  assert.equal(at(spec, 'securityContext', 'runAsNonRoot'), true)
  assert.equal(at(spec, 'enableServiceLinks'), false)
  assert.deepEqual(at(spec, 'containers', 0, 'securityContext'), {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})

test('a pod has the time to leave before it is killed', async () => {
  assert.equal(at(await pod({ leaveSeconds: 20 }), 'spec', 'terminationGracePeriodSeconds'), 65)
  assert.equal((await environment({ leaveSeconds: 20 })).get('QUAYSIDE_LEAVE_SECONDS'), '20')
})

test('the rights are those that the engine checks', async () => {
  const role = (await objects()).get('ClusterRole/platform:quayside')
  const expected = rights.map(({ group, resource, verbs }) => ({ apiGroups: [group], resources: [resource], verbs }))
  assert.deepEqual(at(role, 'rules'), expected)
})

test('the server reads every setting that the chart makes', async () => {
  const known = readSettings()
  const all = await environment({
    'image.router': 'registry.example.org/router:1',
    'registry.username': 'robot',
    'registry.existingSecret': 'robot',
    ingressClass: 'traefik',
    toolsImage: 'registry.example.org/tools:1',
  })
  assert.ok(all.size >= 17, String(all.size))
  const unknown = [...all.keys()].filter((name) => !known.has(name) && name !== 'QUAYSIDE_IN_CLUSTER_ID')
  assert.deepEqual(unknown, [])
})

test('the image of the router in pods reaches the server, and without one the server has none', async () => {
  const router = 'registry.example.org/quayside/router@sha256:0001'
  const values = { 'image.router': router, 'router.service': 'NodePort:30080', 'router.replicas': 3 }
  const settings = await environment(values)
  assert.deepEqual(
    ['IMAGE', 'SERVICE', 'REPLICAS'].map((name) => settings.get(`QUAYSIDE_CLUSTER_ROUTER_${name}`)),
    [router, 'NodePort:30080', '3'],
  )
  assert.equal((await environment()).has('QUAYSIDE_CLUSTER_ROUTER_IMAGE'), false)
  assert.match(await refusalOf({ ...neededValues, 'image.router': 'not an image' }), /image.*router/)
})

test('further settings reach the server, and those of the chart are refused', async () => {
  const settings = await environment({ settings: { QUAYSIDE_LOG_LEVEL: 'debug', QUAYSIDE_RATE_LIMIT: 7 } })
  assert.equal(settings.get('QUAYSIDE_LOG_LEVEL'), 'debug')
  assert.equal(settings.get('QUAYSIDE_RATE_LIMIT'), '7')
  for (const name of (await environment()).keys()) {
    const refusal = await refusalOf({ ...neededValues, settings: { [name]: 'x' } })
    assert.match(refusal, new RegExp(`settings\\.${name} is not possible: the chart sets it`))
  }
})

test('keys are made in the form that the server reads, unless the operator names a Secret', async (t) => {
  const secret = (await objects()).get('Secret/quayside-installation')
  assert.equal(at(secret, 'immutable'), true)
  assert.equal(at(secret, 'metadata', 'annotations', 'helm.sh/resource-policy'), 'keep')
  const directory = await mkdtemp(join(tmpdir(), 'quayside-chart-'))
  t.after(() => rm(directory, { recursive: true }))
  for (const [key, purpose] of [
    ['master.key', 'master key'],
    ['token.pepper', 'token pepper'],
  ] as const) {
    await writeFile(join(directory, key), Buffer.from(String(at(secret, 'data', key)), 'base64'))
    assert.equal((await readKeyFile(join(directory, key), purpose)).length, 32)
  }
  const id = Buffer.from(String(at(secret, 'data', 'cluster-id')), 'base64').toString()
  assert.match(id, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const named = await objects({ 'installation.existingSecret': 'mine' })
  assert.equal(named.has('Secret/quayside-installation'), false)
})

test('an Ingress has the host of the public URL', async () => {
  const made = await objects({ 'ingress.enabled': true, 'ingress.className': 'traefik', 'ingress.tlsSecret': 'cert' })
  const ingress = made.get('Ingress/quayside')
  assert.equal(at(ingress, 'spec', 'rules', 0, 'host'), 'quayside.example.org')
  assert.deepEqual(at(ingress, 'spec', 'tls'), [{ hosts: ['quayside.example.org'], secretName: 'cert' }])
})

test('the API is reached by everybody or by the given peers', async () => {
  const open = (await objects()).get('NetworkPolicy/quayside')
  assert.deepEqual(at(open, 'spec', 'ingress'), [{ ports: [{ port: 'http', protocol: 'TCP' }] }])
  const from = [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }]
  const closed = (await objects({ 'networkPolicy.from': from })).get('NetworkPolicy/quayside')
  assert.deepEqual(at(closed, 'spec', 'ingress', 0, 'from'), from)
})

const mistakes: readonly (readonly [Values, RegExp])[] = [
  ...Object.keys(neededValues)
    .filter((name) => name !== 'database.url')
    .map((name) => [{ [name]: '' }, new RegExp(`${name} is required, such as `)] as const),
  [{ 'database.url': '' }, /database\.url is required/],
  [{ 'database.existingSecret': 'x' }, /either database\.url or database\.existingSecret/],
  [{ 'registry.username': 'x' }, /registry\.username needs registry\.existingSecret/],
  [{ replicas: 3, 'persistence.accessMode': 'ReadWriteOnce' }, /3 replicas need a volume that all of them mount/],
  [{ 'service.nodePort': 30_000 }, /service\.nodePort is 30000, but service\.type is ClusterIP/],
  [{ replicas: 0 }, /replicas/],
  [{ publicUrl: 'https://quayside.example.org/path' }, /publicUrl/],
  [{ 'database.url': 'mysql://x' }, /database/],
  [{ 'database.snapshot': 'maybe' }, /snapshot/],
  [{ 'router.service': 'ClusterIP' }, /router/],
  [{ replica: 3 }, /replica/],
  [{ settings: { LOG_LEVEL: 'debug' } }, /LOG_LEVEL/],
]

for (const [values, message] of mistakes) {
  test(`the chart refuses ${JSON.stringify(values)} with a message`, async () => {
    assert.match(await refusalOf({ ...neededValues, ...values }), message)
  })
}

test('a cluster accepts every object, in a namespace for restricted pods', async (t) => {
  const namespace = `quayside-chart-${process.pid}`
  await kubectl(['create', 'namespace', namespace])
  t.after(() => kubectl(['delete', 'namespace', namespace, '--wait=false']))
  await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
  const values = { ...neededValues, replicas: 3, 'ingress.enabled': true }
  const arguments_ = ['install', 'quayside', chart, '--namespace', namespace, '--dry-run=server']
  const notes = await helm(arguments_, values)
  assert.match(notes, /exec deployment\/quayside -- \\\n +node -p/)
})

test('an upgrade and a rollback change no key, an uninstallation keeps keys and data, and a second installation finds them', async (t) => {
  const namespace = `quayside-chart-${process.pid}-kept`
  await kubectl(['create', 'namespace', namespace])
  t.after(() => kubectl(['delete', 'namespace', namespace, '--wait=false']))
  const read = (kind: string, name: string, path: string) =>
    kubectl(['--namespace', namespace, 'get', kind, name, '--output', `jsonpath={${path}}`])
  const keys = () => read('secret', 'quayside-installation', '.data')
  const left = () => kubectl(['--namespace', namespace, 'get', 'deployment,service,serviceaccount', '--output', 'name'])
  const inNamespace = ['--namespace', namespace]
  // No node pulls this image, so the installation is not waited for.
  const values = { ...neededValues, 'resources.requests': { cpu: '1m', memory: '1Mi' } }
  await helm(['install', 'quayside', chart, ...inNamespace], values)
  t.after(() => kubectl(['delete', 'clusterrole,clusterrolebinding', `${namespace}:quayside`, '--ignore-not-found']))
  const made = await keys()
  assert.match(made, /master\.key/)
  await helm(['upgrade', 'quayside', chart, ...inNamespace], { ...values, domain: 'other.example.org' })
  assert.equal(await keys(), made)
  const replicas = () => read('deployment', 'quayside', '.spec.replicas')
  await kubectl(['--namespace', namespace, 'scale', 'deployment/quayside', '--replicas=0'])
  await helm(['upgrade', 'quayside', chart, ...inNamespace], { ...values, domain: 'third.example.org' })
  assert.equal(await replicas(), '1')
  await helm(['rollback', 'quayside', '1', ...inNamespace])
  assert.deepEqual([await keys(), await replicas()], [made, '1'])
  await assert.rejects(
    kubectl([
      ...inNamespace,
      ...['patch', 'secret', 'quayside-installation', '--patch', '{"stringData":{"master.key":"other"}}'],
    ]),
    /immutable/,
  )
  await helm(['uninstall', 'quayside', ...inNamespace])
  assert.equal(await keys(), made)
  assert.equal(await read('persistentvolumeclaim', 'quayside-data', '.spec.accessModes[0]'), 'ReadWriteOnce')
  assert.doesNotMatch(await left(), /quayside/)
  await helm(['install', 'quayside', chart, ...inNamespace], values)
  assert.equal(await keys(), made)
  await helm(['uninstall', 'quayside', ...inNamespace])
})
