import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Kind, kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { helmCache } from './cluster/settings.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { configMap, makeChart, type TestChart, webChart } from './support/charts.ts'

// A chart from its repository to its objects and back. The tests build on each other.

const env = { ...clusterSettings('charts'), QUAYSIDE_HELM: join(helmCache, 'helm') }
let server: ServerProcess
let chart: TestChart
let environmentId: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const ofChart = () => ({ labels: { [label.service]: chart.id } })

before(async () => {
  server = await startServer({ env })
  const cluster = await addDeployedCluster(server, 'charts')
  environmentId = await makeEnvironment(server, 'charts', cluster.id)
  chart = await makeChart(server, { environmentId, name: 'web' })
})
after(async () => {
  await server?.close()
  kube.close()
})

test('a chart in git is installed, and its pods, lines and services are those of the service', async () => {
  await server.must('POST', `/variable`, {
    key: 'PASSWORD',
    value: 'hunter2hunter2',
    is_secret: true,
    variable_scope: 'HELM',
    variable_parent_id: chart.id,
  })
  await chart.edit({
    values_override: {
      set: [['replicas', '2']],
      set_string: [['message', 'secret {{PASSWORD}}']],
      set_json: [],
      file: null,
    },
  })
  await chart.git.push(webChart())
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null }, await chart.lines())
  const pods = await kube.list(kinds.pod, ofChart(), limit())
  assert.equal(pods.items.length, 2)
  await until('both pods are observed', async () => {
    const rows = await server.sql`select state, replicas from observation where service_id = ${chart.id}`
    return rows[0]?.['state'] === 'running' && rows[0]?.['replicas'].length === 2
  })
  assert.equal((await chart.lines()).includes('hunter2'), false)
  const { results } = await server.must<{ results: { metadata: { name: string } }[] }>(
    'GET',
    `/helm/${chart.id}/listServices`,
  )
  assert.deepEqual(
    results.map(({ metadata }) => metadata.name),
    [`chart-${chart.id.slice(-12)}-web`],
  )
})

test('the lines of its pods are in its log, with secrets masked', async () => {
  await until('a line is stored', async () => {
    return (await chart.stored()).includes('up secret ******')
  })
  assert.equal((await chart.stored()).includes('hunter2'), false)
})

const podNames = async (): Promise<string[]> =>
  (await kube.list(kinds.pod, ofChart(), limit())).items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name)
    .sort()

test('a deployment that changes nothing keeps its pods, and a new value replaces the object', async () => {
  const before = await podNames()
  assert.equal((await chart.run()).state, 'DEPLOYED')
  assert.deepEqual(await podNames(), before)
  await chart.set([['replicas', '1']])
  assert.equal((await chart.run()).state, 'DEPLOYED')
  await until('one pod is left', async () => (await podNames()).length === 1)
})

test('a version that does not become ready goes back to the previous one, with the reason', async () => {
  const before = await podNames()
  await chart.set([
    ['replicas', '1'],
    ['command', 'echo no; exit 3'],
  ])
  const { state, reason } = await chart.run()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /pod chart-\S+ exited with code 3, 3 times/)
  assert.deepEqual(await podNames(), before)
  await chart.set([['replicas', '1']])
})

test('a chart with an object of the whole cluster is refused by the name of the object', async () => {
  const role = 'apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: everything}\nrules: []\n'
  await chart.git.push(webChart({ 'chart/templates/role.yaml': role }))
  const { state, reason } = await chart.run()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /ClusterRole "everything" is an object of the whole cluster/)
  await chart.git.push(webChart())
})

test('a cancelled deployment leaves the previous version', async () => {
  const before = await podNames()
  await chart.set([
    ['replicas', '1'],
    ['command', 'sleep 1000000'],
  ])
  await chart.deploy()
  await until('its objects are applied', async () => (await podNames()).length > 1)
  await server.must('POST', `/environment/${environmentId}/cancelDeployment`, {})
  assert.equal((await chart.settles()).state, 'CANCELED')
  await until('only the previous pod is left', async () => (await podNames()).join() === before.join())
  await chart.set([['replicas', '1']])
})

for (const point of ['chart.rendered', 'chart.installing']) {
  test(`a server that is killed at ${point} continues the deployment`, async () => {
    await chart.set([
      ['replicas', '1'],
      ['message', point],
    ])
    await server.restart({ failpoint: `${point}:kill`, env })
    await chart.deploy()
    await server.exited()
    await server.restart({ env })
    assert.equal((await chart.settles()).state, 'DEPLOYED')
  })
}

test('a server that is killed while helm works puts the release right and continues', async () => {
  await chart.set([
    ['replicas', '1'],
    ['command', 'sleep 3; touch /tmp/up; sleep 1000000'],
    ['message', 'again'],
  ])
  const before = await podNames()
  await chart.deploy()
  await until('its objects are applied', async () => (await podNames()).join() !== before.join())
  await server.kill9()
  await server.restart({ env })
  assert.equal((await chart.settles()).state, 'DEPLOYED')
})

test('a rollback installs the chart, values and variables of an earlier version', async () => {
  const before = await server.must<{ results: { identifier: { execution_id: string } }[] }>(
    'GET',
    `/helm/${chart.id}/deploymentHistoryV2`,
  )
  const execution_id = before.results[0]?.identifier.execution_id
  await chart.set([
    ['replicas', '2'],
    ['message', 'newer'],
  ])
  await chart.git.push(webChart({ 'chart/templates/more.yaml': configMap('more') }))
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.equal((await podNames()).length, 2)
  await server.must('POST', `/helm/${chart.id}/rollback`, { execution_id })
  assert.deepEqual(await chart.settles(), { state: 'DEPLOYED', reason: null })
  await until('one pod is left', async () => (await podNames()).length === 1)
  assert.deepEqual((await kube.list(kinds.configMap, ofChart(), limit())).items, [])
})

test('a stopped chart runs nothing, and a deployment begins it again', async () => {
  await server.must('POST', `/helm/${chart.id}/stop`, {})
  assert.equal((await chart.settles()).state, 'STOPPED')
  assert.deepEqual(await podNames(), [])
  assert.equal((await chart.run()).state, 'DEPLOYED')
  assert.equal((await podNames()).length, 1)
})

test('an uninstalled chart leaves no object, and a deleted one no service', async () => {
  await server.must('POST', `/helm/${chart.id}/uninstall`, {})
  await chart.settles()
  const left: readonly Kind[] = [kinds.deployment, kinds.pod, kinds.service, kinds.secret]
  for (const kind of left) assert.deepEqual((await kube.list(kind, ofChart(), limit())).items, [], kind.kind)
  await server.must('DELETE', `/helm/${chart.id}`)
  await until('it is gone', async () => (await server.api('GET', `/helm/${chart.id}`)).status === 404)
  await server.must('DELETE', `/environment/${environmentId}`)
  await untilNamespaceGone(kube, environmentId)
})
