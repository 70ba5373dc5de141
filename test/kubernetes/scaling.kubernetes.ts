import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// A service under load, and objects that somebody changes by hand. The tests build on each other.

let server: ServerProcess
let application: TestApplication
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = (): string => `quayside-${application.environmentId}`
const deployment = async () => {
  const { items } = await kube.list(kinds.deployment, { labels: { [label.service]: application.id } }, limit())
  return items.at(-1) ?? assert.fail('there is no Deployment')
}
/** The replicas that clients of the API see. */
const replicas = async (): Promise<number> => {
  const [row] = await server.sql<{ count: number }[]>`
    select jsonb_array_length(replicas) as count from observation where service_id = ${application.id}`
  return row?.count ?? 0
}

before(async () => {
  server = await startServer({ env: clusterSettings('scaling') })
})
after(async () => {
  await server?.close()
  kube.close()
})

/** A program that uses most of the little CPU that it gets. */
const busy = (version: string) => {
  const tree = web(version)
  return {
    ...tree,
    'app.js': `${tree['app.js']};setInterval(() => { const end = Date.now() + 40; while (Date.now() < end); }, 50)`,
  }
}

test('a service under load gets replicas from its cluster, and the API shows them', async () => {
  const cluster = await addDeployedCluster(server, 'far')
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  const settings = { cpu: 50, min_running_instances: 1, max_running_instances: 3 }
  application = await makeApplication(server, { environmentId, name: 'web', settings })
  await server.must('PUT', `/application/${application.id}/advancedSettings`, {
    'hpa.cpu.average_utilization_percent': 50,
  })
  await application.run(busy('first'))
  await until('the load has added replicas', async () => (await replicas()) >= 2, { limitMs: 180_000 })
  const wanted = (await deployment()).spec.replicas ?? 0
  assert.ok(wanted >= 2)
  assert.equal((await application.status()).state, 'RUNNING')
})

test('a deployment under load loses neither replicas nor requests', async (t) => {
  const former = (await deployment()).metadata.name
  const traffic = startTraffic(application.url, 5)
  t.after(() => traffic.stop())
  await application.run(busy('second'))
  const { metadata, spec } = await deployment()
  assert.notEqual(metadata.name, former)
  assert.ok((spec.replicas ?? 0) >= 2, `${spec.replicas} replicas`)
  await until('the API shows them', async () => (await replicas()) >= 2)
  const { sent, lost } = await traffic.stop()
  assert.ok(sent > 0)
  assert.deepEqual(lost, [])
})

test('objects that somebody changes or deletes by hand return within a minute', async () => {
  const { metadata, spec } = await deployment()
  const place = { namespace: namespace(), name: metadata.name }
  const image = spec.template?.spec.containers[0]?.image
  const [alias] = (await kube.list(kinds.service, { namespace: namespace() }, limit())).items
  assert.ok(alias && image)
  const container = { name: 'main', image: 'localhost:5000/none:1' }
  const other = { spec: { template: { spec: { containers: [container] } } } }
  await Promise.all([
    kube.remove(kinds.secret, place, limit()),
    kube.remove(kinds.service, alias.metadata, limit()),
    kube.remove(kinds.autoscaler, place, limit()),
    kube.remove(kinds.networkPolicy, { namespace: namespace(), name: 'quayside-isolation' }, limit()),
    kube.patch(kinds.deployment, place, other, limit()),
  ])
  const isBack = async (): Promise<boolean> => {
    const found = await Promise.all([
      kube.get(kinds.secret, place, limit()),
      kube.get(kinds.service, alias.metadata, limit()),
      kube.get(kinds.autoscaler, place, limit()),
      kube.get(kinds.networkPolicy, { namespace: namespace(), name: 'quayside-isolation' }, limit()),
    ])
    const now = (await deployment()).spec.template?.spec.containers[0]?.image
    return found.every(Boolean) && now === image
  }
  await until('everything is back', isBack, { limitMs: 60_000 })
  await until('it answers', async () => (await application.answer()).body === 'second')
})

test('a stopped service has neither replicas nor an autoscaler', async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  const scalers = await kube.list(kinds.autoscaler, { namespace: namespace() }, limit())
  assert.deepEqual(scalers.items, [])
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await untilNamespaceGone(kube, application.environmentId)
})
