import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { imageName } from './cluster/build.ts'
import { kubeconfig, ports } from './cluster/settings.ts'
import { openKube } from './support/access.ts'

// From a kubeconfig to a running application, as a user does it. The tests build on each other.

let server: ServerProcess
let clusterId: string
let application: TestApplication
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({
    env: {
      QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
      QUAYSIDE_CLUSTER_REGISTRY: `localhost:${ports.registry}/walk`,
      QUAYSIDE_CLUSTER_TOOLS_IMAGE: imageName('busybox'),
    },
  })
})
after(async () => {
  await server?.close()
  kube.close()
})

const clusters = () => `/organization/${server.organizationId}/cluster`

async function putKubeconfig(text: string): Promise<{ status: number; message: string }> {
  const answer = await fetch(`${server.apiUrl}${clusters()}/${clusterId}/kubeconfig`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/x-yaml' },
    body: text,
  })
  return { status: answer.status, message: await answer.text() }
}

const clusterStatus = async (): Promise<string> =>
  (await server.must<{ status: string }>('GET', `${clusters()}/${clusterId}/status`)).status

test('a cluster is connected by its kubeconfig, checked and deployed', async () => {
  const body = { name: 'far', region: 'here', cloud_provider: 'ON_PREMISE', kubernetes: 'SELF_MANAGED' }
  clusterId = (await server.must<{ id: string }>('POST', clusters(), body)).id
  const wrong = await putKubeconfig('apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\n')
  assert.equal(wrong.status, 400, wrong.message)
  assert.match(wrong.message, /current-context must name one of the contexts/)
  const stored = await putKubeconfig(await readFile(kubeconfig, 'utf8'))
  assert.equal(stored.status, 204, stored.message)
  const deploy = () => server.api('POST', `${clusters()}/${clusterId}/deploy`)
  // The server connects to it within a second.
  await until('the deployment is accepted', async () => (await deploy()).status < 300)
  await until('the cluster is deployed', async () => ['DEPLOYED', 'DEPLOYMENT_ERROR'].includes(await clusterStatus()))
  const { results } = await server.must<{ results: { message: { safe_message: string } }[] }>(
    'GET',
    `${clusters()}/${clusterId}/logs`,
  )
  const lines = results.map(({ message }) => message.safe_message).join('\n')
  assert.equal(await clusterStatus(), 'DEPLOYED', lines)
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
  await until('its namespace is gone', async () => {
    const found = await kube.get(kinds.namespace, { name: `quayside-${application.environmentId}` }, limit())
    return found === undefined
  })
})
