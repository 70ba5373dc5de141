import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { makeEnvironment } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { must } from './cluster/commands.ts'
import { ports } from './cluster/settings.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { configMap, makeChart, smallChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'

// Charts that name other charts, of both kinds of repositories, and values from git.

let server: ServerProcess
let environmentId: string
const kube = openKube()
const opened = new AsyncDisposableStack()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({ env: { ...clusterSettings('chart-needs'), QUAYSIDE_HELM: helmProgram } })
  opened.defer(() => server.close())
  const cluster = await addDeployedCluster(server, 'needs')
  environmentId = await makeEnvironment(server, 'needs', cluster.id)
  opened.defer(async () => {
    await server.must('DELETE', `/environment/${environmentId}`)
    await untilNamespaceGone(kube, environmentId)
  })
})
after(async () => {
  await opened.disposeAsync()
  kube.close()
})

/** Returns the texts of the ConfigMaps of a chart, in alphabetical order. */
async function textsOf({ id }: TestChart): Promise<unknown[]> {
  const { items } = await kube.list(kinds.configMap, { labels: { 'quayside.io/service': id } }, limit())
  return items.map((item) => Object(Object(item).data).text).sort()
}

/** Packs a chart of one ConfigMap with this text. Returns the directory of the archive. */
async function packOther(name: string, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-chart-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  await mkdir(join(directory, 'other', 'templates'), { recursive: true })
  await writeFile(join(directory, 'other', 'Chart.yaml'), `apiVersion: v2\nname: ${name}\nversion: 1.0.2\n`)
  await writeFile(join(directory, 'other', 'templates', 'a.yaml'), configMap(`of-${name}`, text))
  await must(helmProgram, ['package', join(directory, 'other'), '--destination', directory])
  return directory
}

/** A chart that names another one, with its lock. */
const naming = (name: string, repository: string): Tree =>
  smallChart({
    'chart/Chart.yaml':
      'apiVersion: v2\nname: web\nversion: 1.2.3\n' +
      `dependencies: [{name: ${name}, version: ~1.0.0, repository: "${repository}"}]\n`,
    'chart/Chart.lock': `dependencies: [{name: ${name}, version: 1.0.2, repository: "${repository}"}]\n`,
  })

async function serveRepository(directory: string, name: string): Promise<string> {
  await must(helmProgram, ['repo', 'index', directory])
  const index = await readFile(join(directory, 'index.yaml'))
  const archive = await readFile(join(directory, `${name}-1.0.2.tgz`))
  const web = createServer((request, response) => response.end(request.url?.endsWith('index.yaml') ? index : archive))
  opened.defer(() => void web.close())
  await once(web.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}/charts`
}

const rollback = async (chart: TestChart, execution: string) => {
  await server.must('POST', `/helm/${chart.id}/rollback`, { execution_id: execution })
  return chart.settles()
}
interface Entry {
  readonly identifier: { readonly execution_id: string }
  readonly details: { readonly commit: { git_commit_id: string } | null; readonly values_commit_id?: string | null }
}
const historyOf = async (chart: TestChart) =>
  (await server.must<{ results: Entry[] }>('GET', `/helm/${chart.id}/deploymentHistoryV2`)).results

test('a chart that another one names is fetched from an OCI registry', async () => {
  const directory = await packOther('packed', 'of a registry')
  const url = `oci://localhost:${ports.registry}/needed`
  await must(helmProgram, ['push', join(directory, 'packed-1.0.2.tgz'), url, '--plain-http'])
  const chart = await makeChart(server, { environmentId, name: 'packing' })
  await chart.git.push(naming('packed', url))
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['of a registry', 'small'])
  await chart.git.push(naming('missing', url))
  assert.match((await chart.run()).reason, /missing/)
  assert.deepEqual(await textsOf(chart), ['of a registry', 'small'])
})

test('a rollback fetches the charts of its version, and is refused if their content is another one', async () => {
  const url = await serveRepository(await packOther('listed', 'fetched'), 'listed')
  const chart = await makeChart(server, { environmentId, name: 'rolling' })
  await chart.git.push(naming('listed', url))
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  const [first] = await historyOf(chart)
  await chart.git.push(smallChart({ 'chart/values.yaml': 'text: alone\n' }))
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['alone'])
  assert.deepEqual(await rollback(chart, first?.identifier.execution_id ?? ''), { state: 'DEPLOYED', reason: null })
  assert.deepEqual(await textsOf(chart), ['fetched', 'small'])
})

test('files of values that are not UTF-8 are refused by their name, and nothing changes', async () => {
  const chart = await makeChart(server, { environmentId, name: 'encoded' })
  const file = { git: { git_repository: { url: chart.git.url, branch: 'main' }, paths: ['own.yaml'] } }
  await chart.git.push(smallChart({ 'own.yaml': 'text: plain\n' }))
  await chart.edit({ values_override: { set: [], set_string: [], set_json: [], file } })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  const directory = await chart.git.git('rev-parse', '--show-toplevel')
  await writeFile(join(directory, 'own.yaml'), Buffer.from('text: caf\xe9\n', 'latin1'))
  await chart.git.git('commit', '--quiet', '--all', '--message', 'Another encoding')
  await chart.git.git('push', '--quiet', 'origin', 'main')
  const { state, reason } = await chart.run()
  assert.equal(state, 'DEPLOYMENT_ERROR')
  assert.match(reason, /the file "own\.yaml" of the values is not UTF-8; save it as UTF-8/)
  assert.deepEqual(await textsOf(chart), ['plain'])
})

test('the history of a chart has the commits of the chart and of its values', async () => {
  const chart = await makeChart(server, { environmentId, name: 'recorded' })
  const values = await makeChart(server, { environmentId, name: 'values-only' })
  const file = { git: { git_repository: { url: values.git.url, branch: 'main' }, paths: ['own.yaml'] } }
  const ofChart = await chart.git.push(smallChart())
  const ofValues = await values.git.push({ 'own.yaml': 'text: valued\n' })
  await chart.edit({ values_override: { set: [], set_string: [], set_json: [], file } })
  assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
  const [entry] = await historyOf(chart)
  assert.equal(entry?.details.commit?.git_commit_id, ofChart)
  assert.equal(entry?.details.values_commit_id, ofValues)
})
