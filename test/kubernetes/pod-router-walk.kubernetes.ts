import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, label, ownLabels } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get, startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { publishRouterImage } from './support/router-image.ts'

// A cluster with a domain of its own and without an ingress controller: the platform's router runs
// in its pods. The tests build on each other.

let server: ServerProcess
let env: Readonly<Record<string, string>>
let cluster: AddedCluster
let application: TestApplication
/** The URL of the application at the port that the routers have here. */
let url: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const ask = (path = '/') => get(`${url}${path}`, undefined, addresses.node)
const instance = () => instanceOn(server.instance, cluster.id)
const namespaceOf = () => `quayside-router-${instance()}`

before(async () => {
  env = {
    ...clusterSettings('pod-router'),
    QUAYSIDE_CLUSTER_ROUTER_IMAGE: await publishRouterImage('walk'),
    QUAYSIDE_CLUSTER_ROUTER_SERVICE: 'NodePort',
    // The test cluster has a controller. Its class is another one.
    QUAYSIDE_CLUSTER_INGRESS_CLASS: 'none',
  }
  server = await startServer({ env })
})
after(async () => {
  if (cluster) await kube.remove(kinds.namespace, { name: namespaceOf() }, limit())
  await server?.close()
  kube.close()
})

test('a cluster without an ingress controller gets the router, and its log says so', async () => {
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const domain = { dns_provider: { provider: 'QOVERY', domain: 'apps.far.test' } }
  const set = await server.api('PUT', `/cluster/${cluster.id}/dnsProvider`, domain)
  assert.ok(set.status < 300, JSON.stringify(set))
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
  assert.match(lines, /goes through the router of the platform, in pods of the namespace quayside-router-/)
  const again = await cluster.deploy()
  assert.match(again.lines, /the Service router there \(NodePort, port \d+ of nodes with a router\)/)
})

test('an application answers through the routers of its cluster, and not through that of the machine', async () => {
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  const settings = {
    // Both versions reserve it on a node with two cores.
    cpu: 50,
    min_running_instances: 0,
    max_running_instances: 1,
  }
  application = await makeApplication(server, { environmentId, name: 'web', settings })
  const service = await kube.get(kinds.service, { namespace: namespaceOf(), name: 'router' }, limit())
  url = `${application.url}:${service?.spec?.ports?.[0]?.nodePort}`
  await application.run(web('first'))
  await until('it answers', async () => (await ask()).body === 'first')
  assert.equal((await get(`http://${new URL(url).hostname}:${server.routerPort}/`)).status, 404)
})

test('no request is lost while versions replace each other', async (t) => {
  const traffic = startTraffic(`${url}/`, 200, addresses.node)
  t.after(() => traffic.stop())
  for (const version of ['second', 'third', 'fourth']) await application.run(web(version))
  await traffic.sends(200)
  const { lost, sent, bodies } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
  assert.ok(bodies.has('second') && bodies.has('fourth'))
})

test('no request is lost while the server is killed and starts again', async (t) => {
  const traffic = startTraffic(`${url}/`, 200, addresses.node)
  t.after(() => traffic.stop())
  await traffic.sends(200)
  await server.kill9()
  await traffic.sends(1_000)
  await server.restart({ env })
  await application.run(web('fifth'))
  await until('the last version answers', async () => (await ask()).body === 'fifth')
  const { lost, sent } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

test('an idle application sleeps, and its requests wait until it is awake', async () => {
  const selection = { labels: { [label.service]: application.id } }
  const pods = async () => (await kube.list(kinds.pod, selection, limit())).items.length
  // A policy without an enabled scaler is an idle time, also on a cluster without KEDA.
  const scaler = { scaler_type: 'cron', role: 'PRIMARY', enabled: false, config_yaml: 'timezone: UTC' }
  const autoscaling = { mode: 'KEDA', cooldown_period_seconds: 20, scalers: [scaler] }
  const path = `/application/${application.id}`
  await server.must('PUT', path, { autoscaling })
  await until('it sleeps', async () => (await pods()) === 0, { limitMs: 120_000, seen: () => server.output.slice(-5) })
  await server.must('PUT', path, { autoscaling: null })
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask()))
  for (const answer of answers) assert.deepEqual(answer, { status: 200, body: 'fifth' })
  assert.equal(await pods(), 1)
})

test('a stopped application has a page with the reason, and a deleted environment leaves nothing', async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  await until('it answers 503', async () => (await ask()).status === 503)
  assert.match((await ask()).body, /it is stopped/)
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await until('its route is gone', async () => (await ask()).status === 404)
  await until('its namespace is gone', async () => {
    const { items } = await kube.list(kinds.namespace, { labels: ownLabels(instance()) }, limit())
    return items.every(({ metadata }) => metadata.name === namespaceOf())
  })
})
