import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, label, ownLabels } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get, startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses, ports } from './cluster/settings.ts'
import { openKube, removeNamespaces } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { askController } from './support/ingress-bench.ts'

// A cluster with a domain of its own, whose ingress controller carries the traffic. The tests build
// on each other.

let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication
/** The URL of the application at the port that the controller has here. */
let url: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const ask = (path = '/', at = url) => get(`${at}${path}`, undefined, addresses.node)
const fetchHeader = async (name: string) => (await askController(new URL(url).hostname)).headers[name]
const setDomain = (domain: string) =>
  server.api('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider: { provider: 'QOVERY', domain } })

before(async () => {
  server = await startServer({ env: clusterSettings('ingress') })
})
after(async () => {
  await server?.close()
  if (cluster) await removeNamespaces(kube, instanceOn(server.instance, cluster.id))
  kube.close()
})

test('names of services end in the domain of their cluster', async () => {
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const answer = await setDomain('apps.far.test')
  assert.ok(answer.status < 300, JSON.stringify(answer))
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  application = await makeApplication(server, { environmentId, name: 'web' })
  assert.match(application.url, /^http:\/\/web-[0-9a-f]{8}\.apps\.far\.test$/)
  url = `${application.url}:${ports.ingress}`
  const refused = await setDomain('other.test')
  assert.equal(refused.status, 409, JSON.stringify(refused))
})

test('an application answers through the ingress controller, and not through the router', async () => {
  await application.run(web('first'))
  await until('it answers', async () => (await ask()).body === 'first')
  assert.equal((await get(`http://${new URL(url).hostname}:${server.routerPort}/`)).status, 404)
})

test('no request is lost while versions replace each other', async (t) => {
  const traffic = startTraffic(`${url}/`, 100, addresses.node)
  t.after(() => traffic.stop())
  for (const version of ['second', 'third', 'fourth']) await application.run(web(version))
  await until('the last version answers', async () => (await ask()).body === 'fourth')
  const { lost, sent, bodies } = await traffic.stop()
  // The router removes only objects of its own.
  const selection = { labels: { [label.service]: application.id } }
  const [secrets, services] = await Promise.all([
    kube.list(kinds.secret, selection, limit()),
    kube.list(kinds.service, selection, limit()),
  ])
  assert.deepEqual([secrets.items.length, services.items.length], [1, 1])
  assert.deepEqual(lost, [])
  assert.ok(sent > 500 && bodies.has('second') && bodies.has('fourth'), `${sent} requests`)
})

test('no request is lost while a rule changes, and it acts', async (t) => {
  const traffic = startTraffic(`${url}/`, 100, addresses.node)
  t.after(() => traffic.stop())
  const path = `/application/${application.id}/advancedSettings`
  const settings = await server.must<object>('GET', path)
  await server.must('PUT', path, { ...settings, 'network.ingress.extra_headers': '{"x-more":"yes"}' })
  const middlewares = () =>
    kube.list(kinds.middleware, { labels: ownLabels(instanceOn(server.instance, cluster.id)) }, limit())
  await until('the header is a Middleware', async () => (await middlewares()).items.length > 0)
  await until('responses have it', async () => (await fetchHeader('x-more')) === 'yes')
  await traffic.sends(300)
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
})

test('a rule that the controller cannot apply fails the deployment, with the reason', async () => {
  const path = `/application/${application.id}/advancedSettings`
  const settings = await server.must<object>('GET', path)
  await server.must('PUT', path, { ...settings, 'network.ingress.denylist_source_range': '192.0.2.0/24' })
  await application.ship(web('fifth'))
  const { reason } = await application.settles()
  assert.match(String(reason), /its rule deny cannot be applied: Traefik can only allow networks/)
  await server.must('PUT', path, settings)
  await until('it answers again', async () => (await ask()).status === 200)
})

test('steps of a canary are rejected, because the controller does not share requests', async () => {
  const body = { 'deployment.canary.steps': '5,50' }
  const answer = await server.api('PUT', `/application/${application.id}/advancedSettings`, body)
  assert.equal(answer.status, 400)
  assert.match(JSON.stringify(answer.body), /only the platform's router shares requests between two versions/)
})

test('a pod that Kubernetes replaces while the server is away gets requests', async (t) => {
  await application.run(web('sixth'))
  await server.kill9()
  const selection = { labels: { [label.service]: application.id } }
  const { items } = await kube.list(kinds.pod, selection, limit())
  await Promise.all(items.map(({ metadata }) => kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })))
  const former = new Set(items.map(({ metadata }) => metadata.name))
  await until('another pod is ready', async () =>
    (await kube.list(kinds.pod, selection, limit())).items.some(
      ({ metadata, status }) =>
        !former.has(metadata.name) && status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
    ),
  )
  await until('it answers', async () => (await ask()).body === 'sixth')
  const traffic = startTraffic(`${url}/`, 100, addresses.node)
  t.after(() => traffic.stop())
  await server.restart()
  await application.reaches(['RUNNING'])
  await traffic.sends(500)
  assert.deepEqual((await traffic.stop()).lost, [])
})

test('a stopped application answers 503, and a deleted environment leaves no route', async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  await until('it answers 503', async () => (await ask()).status === 503)
  await server.must('DELETE', `/environment/${application.environmentId}`)
  await until('its route is gone', async () => (await ask()).status === 404)
  const left = await kube.list(kinds.ingress, { labels: ownLabels(instanceOn(server.instance, cluster.id)) }, limit())
  assert.deepEqual(left.items, [])
})
