import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { pullSecretName } from '../../server/engines/kubernetes/pull-secret.ts'
import { makeEnvironment } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { must } from './cluster/commands.ts'
import { helmCache, ports } from './cluster/settings.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { configMap, makeChart, smallChart, type TestChart } from './support/charts.ts'

// Charts of all sources, and charts that are wrong or hostile. Nothing of these is applied.

const helm = join(helmCache, 'helm')
let server: ServerProcess
let environmentId: string
const kube = openKube()
const opened = new AsyncDisposableStack()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({ env: { ...clusterSettings('chart-sources'), QUAYSIDE_HELM: helm } })
  opened.defer(() => server.close())
  const cluster = await addDeployedCluster(server, 'sources')
  environmentId = await makeEnvironment(server, 'sources', cluster.id)
  opened.defer(async () => {
    await server.must('DELETE', `/environment/${environmentId}`)
    await untilNamespaceGone(kube, environmentId)
  })
})
after(async () => {
  await opened.disposeAsync()
  kube.close()
})

/** Returns the texts of the ConfigMaps of a chart. */
async function textsOf({ id }: TestChart): Promise<unknown[]> {
  const { items } = await kube.list(kinds.configMap, { labels: { 'quayside.io/service': id } }, limit())
  return items.map((item) => Object(Object(item).data).text)
}

/** Packs the small chart as `helm package` does. */
async function packChart(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-chart-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(smallChart())) {
    const whole = join(directory, path)
    await mkdir(dirname(whole), { recursive: true })
    await writeFile(whole, String(content))
  }
  await must(helm, ['package', join(directory, 'chart'), '--destination', directory])
  return join(directory, 'web-1.2.3.tgz')
}

async function addRepository(name: string, kind: string, url: string, config = {}): Promise<string> {
  const path = `/organization/${server.organizationId}/helmRepository`
  const body = { name, kind, url, config, description: '', skip_tls_verification: false }
  return (await server.must<{ id: string }>('POST', path, body)).id
}

const fromRepository = (repository: string) => ({
  source: { helm_repository: { repository, chart_name: 'web', chart_version: '1.2.3' } },
  values_override: { set: [['text', 'of a repository']], set_string: [], set_json: [] },
})

test('a chart of a Helm repository is installed with the credentials of the repository', async () => {
  const archive = await readFile(await packChart())
  const index = 'apiVersion: v1\nentries:\n  web:\n  - name: web\n    version: 1.2.3\n    urls:\n    - web-1.2.3.tgz\n'
  const asked: (string | undefined)[] = []
  const web = createServer((request, response) => {
    asked.push(request.headers.authorization)
    response.end(request.url?.endsWith('index.yaml') ? index : archive)
  })
  opened.defer(() => void web.close())
  await once(web.listen(0, '127.0.0.1'), 'listening')
  const { port } = web.address() as AddressInfo
  const config = { username: 'reader', password: 'password-of-charts' }
  const repository = await addRepository('plain', 'HTTPS', `http://127.0.0.1:${port}`, config)
  const chart = await makeChart(server, { environmentId, name: 'listed', settings: fromRepository(repository) })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['of a repository'])
  assert.equal(
    asked.every((login) => login?.startsWith('Basic ')),
    true,
  )
})

test('a chart of an OCI registry is installed', async () => {
  await must(helm, ['push', await packChart(), `oci://localhost:${ports.registry}/charts`, '--plain-http'])
  const repository = await addRepository('oci', 'OCI_GENERIC_CR', `http://localhost:${ports.registry}/charts`)
  const chart = await makeChart(server, { environmentId, name: 'packed', settings: fromRepository(repository) })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['of a repository'])
  await chart.edit({
    source: { helm_repository: { repository, chart_name: 'web', chart_version: '9.9.9' } },
  })
  assert.match((await chart.run()).reason, /9\.9\.9/)
  assert.deepEqual(await textsOf(chart), ['of a repository'])
})

test('files of values come from git, with variables', async () => {
  const chart = await makeChart(server, { environmentId, name: 'valued' })
  await chart.git.push(smallChart({ 'values/own.yaml': 'text: "of {{QUAYSIDE_TEST}}"\n' }))
  await server.must('POST', '/variable', {
    key: 'QUAYSIDE_TEST',
    value: 'a variable',
    is_secret: false,
    variable_scope: 'HELM',
    variable_parent_id: chart.id,
  })
  const git = { git_repository: { url: chart.git.url, branch: 'main' }, paths: ['values/own.yaml'] }
  await chart.edit({ values_override: { set: [], set_string: [], set_json: [], file: { git, raw: null } } })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['of a variable'])
})

const bomb = `${configMap('a')}  more: {{ range until 3000 }}{{ range until 3000 }}xxxxxxxxxx{{ end }}{{ end }}\n`
const elsewhere = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n'

describe('a chart that is wrong ends with its reason, and nothing of it is applied', () => {
  const wrong: readonly (readonly [string, Tree, RegExp])[] = [
    ['has no Chart.yaml', { 'chart/values.yaml': '' }, /there is no Chart\.yaml/],
    ['has a template that fails', { 'chart/templates/a.yaml': '{{ fail "not so" }}' }, /templates\/a\.yaml.*not so/],
    ['renders no YAML', { 'chart/templates/a.yaml': 'a: [' }, /YAML|yaml/],
    [
      'needs a kind that is missing',
      kindOf('missing.dev/v1', 'Thing'),
      /Thing "thing" is of a kind of missing\.dev\/v1/,
    ],
    ['needs charts and has no Chart.lock', dependency('https://example.org'), /charts "other", and has no Chart\.lock/],
    [
      'needs a chart of a directory outside of it',
      { ...dependency('file:///etc'), 'chart/Chart.lock': locked('file:///etc') },
      /"other" has the repository "file:\/\/\/etc", from which nothing is fetched/,
    ],
    [
      'needs a chart of an address that is not allowed',
      { ...dependency('http://10.99.99.99'), 'chart/Chart.lock': locked('http://10.99.99.99') },
      /10\.99\.99\.99/,
    ],
    ['has 50 MB', large(), /the chart is larger than 32 MiB or 5000 files/],
    ['has a file of 6 MB', { 'chart/a': 'x'.repeat(6_000_000) }, /"a" of the chart is larger than 5 MiB/],
    ['renders very much', { 'chart/templates/a.yaml': bomb }, /renders more than|cannot be rendered|too long/],
    ['reads a schema from elsewhere', schema('file:///etc/passwd'), /refers to "file:\/\/\/etc\/passwd"/],
    [
      'uses the pull credentials',
      { 'chart/templates/a.yaml': configMap('a', pullSecretName) },
      /belongs to the platform/,
    ],
    [
      'claims host names',
      kindOf('networking.k8s.io/v1', 'Ingress'),
      /Ingress "thing" is of a kind that decides about others/,
    ],
    ['opens its network', kindOf('networking.k8s.io/v1', 'NetworkPolicy'), /NetworkPolicy "thing"/],
    ['acts in another namespace', { 'chart/templates/a.yaml': elsewhere }, /"kube-system"/],
  ]
  for (const [index, [what, tree, message]] of wrong.entries()) {
    test(`it ${what}`, async () => {
      const chart = await makeChart(server, { environmentId, name: `wrong-${index}` })
      const usual = what === 'has no Chart.yaml' ? {} : smallChart()
      await chart.git.push({ ...usual, ...tree })
      const { state, reason } = await chart.run()
      assert.equal(state, 'DEPLOYMENT_ERROR')
      assert.match(reason, message)
      assert.deepEqual(await textsOf(chart), [])
    })
  }
})

test('templates see neither names of hosts nor objects that their account may not read', async () => {
  const chart = await makeChart(server, { environmentId, name: 'curious' })
  const secret = `(lookup "v1" "Secret" .Release.Namespace "${pullSecretName}")`
  const text = `{{ printf "%v %v" ${secret} (lookup "v1" "Secret" "kube-system" "") | toJson }}`
  await chart.git.push(smallChart({ 'chart/templates/small.yaml': configMap('curious', text) }))
  const { state, reason } = await chart.run()
  // A lookup that is refused fails the rendering.
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /forbidden|may not read/i)
  await chart.git.push(
    smallChart({ 'chart/templates/small.yaml': configMap('curious', '{{ getHostByName "localhost" | toJson }}') }),
  )
  assert.equal((await chart.run()).state, 'DEPLOYED')
  assert.deepEqual(await textsOf(chart), [''])
})

test('a hook that hangs ends with the time-out, and the chart is removed', async () => {
  const chart = await makeChart(server, { environmentId, name: 'hanging', settings: { timeout_sec: 5 } })
  const hook = `apiVersion: batch/v1
kind: Job
metadata: {name: hang, annotations: {helm.sh/hook: pre-install}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: a, image: "localhost/none", command: [sleep, "1000"]}]}
`
  await chart.git.push(smallChart({ 'chart/templates/hook.yaml': hook }))
  const { state, reason } = await chart.run()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /did not become ready|not installed|no image/)
  assert.deepEqual(await textsOf(chart), [])
})

test('charts that a chart names are fetched in the versions of its lock, and have their digests', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-chart-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'other', 'templates'), { recursive: true })
  await writeFile(join(directory, 'other', 'Chart.yaml'), 'apiVersion: v2\nname: other\nversion: 1.0.2\n')
  await writeFile(join(directory, 'other', 'templates', 'a.yaml'), configMap('of-the-other', 'fetched'))
  await must(helm, ['package', join(directory, 'other'), '--destination', directory])
  await must(helm, ['repo', 'index', directory])
  let archive = await readFile(join(directory, 'other-1.0.2.tgz'))
  const index = await readFile(join(directory, 'index.yaml'))
  const web = createServer((request, response) => {
    response.end(request.url?.endsWith('index.yaml') ? index : archive)
  })
  opened.defer(() => void web.close())
  await once(web.listen(0, '127.0.0.1'), 'listening')
  const { port } = web.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/charts`
  const chart = await makeChart(server, { environmentId, name: 'needing' })
  await chart.git.push(smallChart({ ...dependency(url), 'chart/Chart.lock': locked(url) }))
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual((await textsOf(chart)).sort(), ['fetched', 'small'])
  archive = await readFile(await packChart())
  assert.match((await chart.run()).reason, /chart other 1\.0\.2 is not the one whose digest its repository names/)
})

test('a push to the repository of a chart deploys it', async () => {
  const chart = await makeChart(server, { environmentId, name: 'pushed', settings: { auto_deploy: true } })
  await chart.git.push(smallChart())
  await until('it is deployed', async () => (await textsOf(chart)).join() === 'small', { limitMs: 60_000 })
  await chart.settles()
  await chart.git.push(smallChart({ 'chart/values.yaml': 'text: pushed\n' }))
  await until('it is deployed again', async () => (await textsOf(chart)).join() === 'pushed', { limitMs: 60_000 })
})

function kindOf(apiVersion: string, kind: string): Tree {
  return { 'chart/templates/a.yaml': `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: thing}\nspec: {}\n` }
}
function large(): Tree {
  return Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`chart/${index}`, 'x'.repeat(4_000_000)]))
}
function dependency(repository: string): Tree {
  const about = 'apiVersion: v2\nname: web\nversion: 1.2.3\n'
  return { 'chart/Chart.yaml': `${about}dependencies: [{name: other, version: ~1.0.0, repository: "${repository}"}]\n` }
}
function locked(repository: string): string {
  return `dependencies: [{name: other, version: 1.0.2, repository: "${repository}"}]\ndigest: sha256:0\n`
}
function schema(reference: string): Tree {
  return { 'chart/values.schema.json': JSON.stringify({ properties: { text: { $ref: reference } } }) }
}
