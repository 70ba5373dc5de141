import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Cleanup } from '../../server/database/testing.ts'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic, type Tally, type Traffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { addresses } from './cluster/settings.ts'
import { openKube, removeNamespaces } from './support/access.ts'
import { type AddedCluster, addCluster, addDeployedCluster, clusterSettings } from './support/add-cluster.ts'
import { publishRouterImage } from './support/router-image.ts'

// Canary deployments on clusters: through our routers in pods, and through the router of the
// machine. The tests build on each other.

let server: ServerProcess
let env: Readonly<Record<string, string>>
let cluster: AddedCluster
let application: TestApplication
/** The URL of the application at the port that the routers have here. */
let url: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const namespace = () => `quayside-router-${instanceOn(server.instance, cluster.id)}`

before(
  async () => {
    env = {
      ...clusterSettings('canary'),
      QUAYSIDE_CLUSTER_ROUTER_IMAGE: await publishRouterImage('canary'),
      QUAYSIDE_CLUSTER_ROUTER_SERVICE: 'NodePort',
      // The test cluster has a controller. Its class is another one.
      QUAYSIDE_CLUSTER_INGRESS_CLASS: 'none',
    }
    server = await startServer({ env })
    cluster = await addCluster(server, 'far')
    await cluster.connect()
    const domain = { dns_provider: { provider: 'QOVERY', domain: 'apps.far.test' } }
    await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, domain)
    const { status, lines } = await cluster.deploy()
    assert.equal(status, 'DEPLOYED', lines)
    const port = /NodePort, port (\d+) of nodes/.exec((await cluster.deploy()).lines)?.[1]
    application = await makeApplication(server, {
      environmentId: await makeEnvironment(server, 'far', cluster.id),
      name: 'shop',
      settings: { cpu: 50 },
    })
    url = `http://${new URL(application.url).hostname}:${port}`
    await application.run(web('one'))
  },
  { timeout: 400_000 },
)
after(async () => {
  await application?.git.remove()
  await server?.close()
  if (cluster) await removeNamespaces(kube, instanceOn(server.instance, cluster.id))
  kube.close()
})

const plan = (of: TestApplication, steps: string, seconds: number, more = {}) =>
  server.must('PUT', `/application/${of.id}/advancedSettings`, {
    'deployment.canary.steps': steps,
    'deployment.canary.step_seconds': seconds,
    'deployment.canary.max_error_percent': 10,
    ...more,
  })

const shareIn = (of: TestApplication, percent: number) =>
  until(
    `the new version gets ${percent} %`,
    async () => {
      const [row] = await server.sql`select from canary where service_id = ${of.id} and percent = ${percent}`
      return row !== undefined
    },
    { limitMs: 90_000, seen: () => server.output.slice(-5) },
  )

const lines = async (): Promise<string> => JSON.stringify(await application.deploymentLog())
const count = ({ bodies }: Tally, body: string): number => bodies.get(body) ?? 0

/** Sends requests to the routers in pods until `stop`, or until the test has ended. */
function send(t: Cleanup, perSecond: number): Traffic {
  const traffic = startTraffic(url, perSecond, addresses.node)
  t.after(async () => void (await traffic.stop()))
  return traffic
}

/** Returns the part of the next requests that a version answers. */
async function shareOf(traffic: Traffic, body: string, requests: number): Promise<number> {
  const before = traffic.tally()
  const start = { sent: before.sent, own: count(before, body) }
  await traffic.sends(requests)
  return (count(traffic.tally(), body) - start.own) / (traffic.tally().sent - start.sent)
}

async function routers(): Promise<readonly string[]> {
  const { items } = await kube.list(kinds.pod, { namespace: namespace() }, limit())
  return items.flatMap(({ metadata: { name, deletionTimestamp }, status }) => {
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
    return isReady && deletionTimestamp === undefined ? [name] : []
  })
}

test('a good version gets its share through all routers, also without the platform, then everything', {
  timeout: 300_000,
}, async (t) => {
  await plan(application, '20,50', 60)
  const traffic = send(t, 50)
  await application.ship(web('two'))
  await shareIn(application, 20)
  await until('the new version answers', () => count(traffic.tally(), 'two') > 0)
  const first = await shareOf(traffic, 'two', 500)
  assert.ok(first > 0.15 && first < 0.25, `share of the first step: ${first}`)
  await until('both routers have counted', async () => {
    const rows = await server.sql`select from canary, jsonb_each(counts) where service_id = ${application.id}`
    return rows.length === 2
  })
  await server.kill9()
  const alone = await shareOf(traffic, 'two', 500)
  assert.ok(alone > 0.15 && alone < 0.25, `share without the platform: ${alone}`)
  await server.restart({ env })
  await shareIn(application, 50)
  const [router] = await routers()
  await kube.remove(kinds.pod, { namespace: namespace(), name: router ?? '' }, limit())
  await until('another router replaces it', async () => {
    const now = await routers()
    return now.length === 2 && !now.includes(router ?? '')
  })
  await server.must('POST', `/service/${application.id}/canary/promote`)
  const { state, reason } = await application.settles(120_000)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
  const last = await shareOf(traffic, 'two', 100)
  assert.ok(last > 0.9, `share after the deployment: ${last}`)
  const { sent, lost } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

/** Answers as the version says, but is healthy. */
const bad = (answer: string): Tree => ({
  ...web('bad'),
  'app.js': `
    require('node:http').createServer((request, response) => { ${answer} }).listen(8080, () => console.log('up'))
    process.on('SIGTERM', () => process.exit(0))`,
})

test('a version that fails goes back, and clients saw no more than its share of errors', {
  timeout: 200_000,
}, async (t) => {
  await plan(application, '20,100', 60)
  const traffic = send(t, 50)
  await application.ship(bad("response.writeHead(500).end('bad')"))
  await shareIn(application, 20)
  await application.settles(120_000)
  const { lost, bodies, sent } = await traffic.stop()
  assert.match(await lines(), /It went back to the previous version: \d+ of \d+ requests to the new version failed/)
  assert.ok(lost.length >= 20 && lost.length <= 80, `${lost.length} of ${sent} were lost`)
  assert.deepEqual([...bodies.keys()], ['two'])
})

test('a version that answers late goes back, and no request is lost', { timeout: 200_000 }, async (t) => {
  await plan(application, '20,100', 60, { 'deployment.canary.max_latency_ms': 300 })
  const traffic = send(t, 50)
  await application.ship(bad("setTimeout(() => response.end('late'), 600)"))
  await shareIn(application, 20)
  await application.settles(120_000)
  assert.match(await lines(), /\d+ of \d+ requests to the new version waited longer than 300 ms for a response/)
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
})

test('a cluster without a domain has steps through the router of the machine', { timeout: 300_000 }, async (t) => {
  const near = await addDeployedCluster(server, 'near')
  const other = await makeApplication(server, {
    environmentId: await makeEnvironment(server, 'near', near.id),
    name: 'near',
    settings: { cpu: 50 },
  })
  t.after(() => other.git.remove())
  await other.run(web('one'))
  await plan(other, '50', 600)
  const traffic = startTraffic(other.url, 50)
  t.after(async () => void (await traffic.stop()))
  await other.ship(web('two'))
  await shareIn(other, 50)
  await until('the new version answers', () => count(traffic.tally(), 'two') > 0)
  const share = await shareOf(traffic, 'two', 200)
  assert.ok(share > 0.4 && share < 0.6, `share: ${share}`)
  await server.must('POST', `/service/${other.id}/canary/promote`)
  await other.settles(120_000)
  assert.equal((await other.answer()).body, 'two')
  assert.deepEqual((await traffic.stop()).lost, [])
})
