import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { ownLabels } from '../../server/engines/kubernetes/labels.ts'
import { pullSecretName } from '../../server/engines/kubernetes/pull-secret.ts'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { tryTo } from './cluster/commands.ts'
import { kubeconfig, programs } from './cluster/settings.ts'
import { openKube } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// The rights of a chart and of its pods. The tests build on each other.

let server: ServerProcess
let environmentId: string
let namespace: string
let chart: TestChart
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const rights = (subject: string, rule: string): string => `
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reading}
rules: [${rule}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reading}
roleRef: {apiGroup: rbac.authorization.k8s.io, ${subject}}
subjects: [{kind: ServiceAccount, name: reader, namespace: "{{ .Release.Namespace }}"}]
---
apiVersion: v1
kind: Secret
metadata: {name: own}
stringData: {word: '{{ .Values.text }}'}
`
const ownRole = 'kind: Role, name: reading'
/** Deploys the chart with a template. Returns the reason if it failed. */
async function deployed(template: string): Promise<string> {
  await chart.git.push(smallChart({ 'chart/templates/rights.yaml': template }))
  const { state, reason } = await chart.run()
  assert.match(state, /^DEPLOY/)
  return state === 'DEPLOYED' ? '' : reason
}
/** Whether an account may read a Secret, by the API server. */
async function mayRead(account: string, secret: string): Promise<boolean> {
  const as = `--as=system:serviceaccount:${namespace}:${account}`
  const args = ['--kubeconfig', kubeconfig, '-n', namespace, 'auth', 'can-i', 'get', `secrets/${secret}`, as]
  return (await tryTo(`${programs}/kubectl`, args)).stdout.toString().startsWith('yes')
}

before(async () => {
  server = await startServer({ env: { ...clusterSettings('chart-rights'), QUAYSIDE_HELM: helmProgram } })
  const cluster = await addDeployedCluster(server, 'rights')
  environmentId = await makeEnvironment(server, 'rights', cluster.id)
  namespace = `quayside-${environmentId}`
  chart = await makeChart(server, { environmentId, name: 'rights' })
})
after(async () => {
  await server.must('DELETE', `/environment/${environmentId}`)
  await until('it is gone', async () => (await server.api('GET', `/environment/${environmentId}`)).status === 404)
  await server.close()
  kube.close()
})

test('a Role that grants all Secrets, or one of somebody else, is refused by its name', async () => {
  const all = '{apiGroups: [""], resources: [secrets], verbs: [get]}'
  assert.match(await deployed(rights(ownRole, all)), /Role "reading" grants all Secrets of the environment/)
  assert.match(
    await deployed(rights(ownRole, '{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}')),
    /grants all Secrets/,
  )
  const other = '{apiGroups: [""], resources: [secrets], resourceNames: [other], verbs: [get]}'
  assert.match(await deployed(rights(ownRole, other)), /Role "reading" grants the Secret "other"/)
  assert.deepEqual((await kube.list(kinds.role, { namespace }, limit())).items, [])
})

test('a Role of the own Secrets works, and its pods read no others', async () => {
  const own = '{apiGroups: [""], resources: [secrets], resourceNames: [own], verbs: [get]}'
  assert.equal(await deployed(rights(ownRole, own)), '')
  assert.deepEqual([await mayRead('reader', 'own'), await mayRead('reader', pullSecretName)], [true, false])
})

test('the API server refuses what the account of the chart does not have', async () => {
  const nothing = '{apiGroups: [""], resources: [pods], verbs: [get]}'
  const reason = await deployed(rights('kind: ClusterRole, name: edit', nothing).replaceAll('reading', 'editing'))
  assert.match(reason, /attempting to grant RBAC permissions not currently held/)
  assert.equal(await mayRead('reader', pullSecretName), false)
})

test('a Role reads addresses of Services, and a Role that writes them or Services is refused', async () => {
  const rule = (verbs: string) => `{apiGroups: [""], resources: [endpoints, services], verbs: [${verbs}]}`
  assert.equal(await deployed(rights(ownRole, rule('get, list, watch'))), '')
  assert.match(await deployed(rights(ownRole, rule('get, patch'))), /Role "reading" lets pods write services/)
  const writer = '{apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [create]}'
  assert.match(await deployed(rights(ownRole, writer)), /Role "reading" lets pods write endpointslices/)
})

test('a chart opens no address outside of the environment, and names none', async () => {
  const service = (spec: string) => `apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: ${spec}\n`
  const ports = 'ports: [{port: 80}]'
  for (const [template, reason] of [
    [service(`{type: NodePort, selector: {app: web}, ${ports}}`), /Service "web" is of the type "NodePort"/],
    [service(`{type: LoadBalancer, selector: {app: web}, ${ports}}`), /Service "web" is of the type "LoadBalancer"/],
    [service(`{externalIPs: [192.0.2.1], selector: {app: web}, ${ports}}`), /claims addresses by externalIPs/],
    [service('{type: ExternalName, externalName: example.org}'), /leads to another host name/],
    [service(`{${ports}}`), /has no selector of pods/],
    ['apiVersion: v1\nkind: Endpoints\nmetadata: {name: web}\n', /Endpoints "web" leads traffic to addresses/],
  ] as const) {
    assert.match(await deployed(template), reason)
  }
  assert.deepEqual((await kube.list(kinds.service, { namespace }, limit())).items, [])
})

test('the account of a chart exists only while it is installed', async () => {
  const { items } = await kube.list(kinds.serviceAccount, { namespace }, limit())
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('quayside')),
    [],
  )
  const token = `
apiVersion: v1
kind: Secret
metadata: {name: stolen, annotations: {kubernetes.io/service-account.name: quayside-chart-${chart.id.slice(-12)}}}
type: kubernetes.io/service-account-token
`
  assert.match(await deployed(token), /Secret "stolen" uses the name "quayside-chart", which belongs to the platform/)
})

test('a chart takes over no Secret that exists', async () => {
  const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'foreign', namespace }, stringData: { a: 'b' } }
  await kube.create(foreign, limit())
  const same = 'apiVersion: v1\nkind: Secret\nmetadata: {name: foreign}\n'
  assert.match(await deployed(same), /the Secret "foreign" exists and is not one of the chart/)
})

test('a chart uses neither accounts nor Secrets of other services', async () => {
  const pod = (spec: string): string =>
    `apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, image: a}], ${spec}}\n`
  assert.match(await deployed(pod('serviceAccountName: other')), /Pod "p" uses the service account "other"/)
  const labels = ownLabels('somebody')
  const contents = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's-of-a-service', namespace, labels } }
  await kube.create(contents, limit())
  const mounted = pod('volumes: [{name: v, secret: {secretName: s-of-a-service}}]')
  assert.match(await deployed(mounted), /names the Secret "s-of-a-service" of another service/)
  assert.deepEqual((await kube.list(kinds.pod, { namespace }, limit())).items, [])
})

test('a chart changes and removes its own Secrets', async () => {
  const own = '{apiGroups: [""], resources: [secrets], resourceNames: [own], verbs: [get]}'
  await chart.set([['text', 'newer']])
  assert.equal(await deployed(rights(ownRole, own)), '')
  const found = await kube.get(kinds.secret, { namespace, name: 'own' }, limit())
  assert.equal(Buffer.from(String(found?.data?.['word']), 'base64').toString(), 'newer')
  assert.equal(await deployed('# nothing'), '')
  assert.equal(await kube.get(kinds.secret, { namespace, name: 'own' }, limit()), undefined)
})

test('a template that looks up its own Secret keeps its content', async () => {
  const kept = `
{{- $found := lookup "v1" "Secret" .Release.Namespace "kept" }}
apiVersion: v1
kind: Secret
metadata: {name: kept}
data: {word: '{{ if $found }}{{ $found.data.word }}{{ else }}{{ randAlphaNum 20 | b64enc }}{{ end }}'}
`
  const word = async () => (await kube.get(kinds.secret, { namespace, name: 'kept' }, limit()))?.data?.['word']
  assert.equal(await deployed(kept), '')
  const first = await word()
  assert.equal(await deployed(kept), '')
  assert.equal(await word(), first)
})
