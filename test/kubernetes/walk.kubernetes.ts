import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addCluster, clusterSettings } from './support/add-cluster.ts'

// From a kubeconfig to a running application, as a user does it. The tests build on each other.

let server: ServerProcess
let clusterId: string
let application: TestApplication
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({
    env: clusterSettings('walk'),
  })
})
after(async () => {
  await server?.close()
  kube.close()
})

test('a cluster is connected by its kubeconfig, checked and deployed', async () => {
  const cluster = await addCluster(server, 'far')
  clusterId = cluster.id
  const wrong = await cluster.putKubeconfig('apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n')
  assert.equal(wrong.status, 400, wrong.message)
  assert.match(wrong.message, /current-context must name one of the contexts/)
  await cluster.connect()
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
})

test('an application is built here, runs there and answers at its URL', async () => {
  const environmentId = await makeEnvironment(server, 'far', clusterId)
  application = await makeApplication(server, { environmentId, name: 'web' })
  await application.run(web('first'))
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  assert.equal(items.length, 1)
  const containers = await server.engine.containersWith(`quayside.service=${application.id}`)
  assert.deepEqual(containers, [])
  assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
})

test('its lines are in its log', async () => {
  await until('its first line', async () => (await application.log()).some(({ message }) => message === 'up first'))
})

test('a new version replaces the running one, and a failing one does not', async () => {
  await application.run(web('second'))
  assert.deepEqual(await application.answer(), { status: 200, body: 'second' })
  await application.ship({ ...web('third'), 'app.js': "console.log('no');process.exit(3)" })
  const { state, reason } = await application.settles(180_000)
  assert.match(state, /ERROR|WARNING|RUNNING/)
  assert.match(String(reason), /exited with code 3/)
  assert.deepEqual(await application.answer(), { status: 200, body: 'second' })
})

test('a killed server finds everything again, and a deleted pod is replaced', async () => {
  await server.kill9()
  await server.restart()
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  await Promise.all(items.map(({ metadata }) => kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })))
  await until('the application answers again', async () => (await application.answer()).body === 'second')
})

test('a stopped application leaves nothing that runs, and a deleted environment nothing at all', async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  const pods = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  assert.deepEqual(pods.items, [])
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await untilNamespaceGone(kube, application.environmentId)
})
