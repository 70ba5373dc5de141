import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, ownLabels } from '../../server/engines/kubernetes/labels.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get, startTraffic } from '../support/traffic.ts'
import { until } from '../support/until.ts'
import { addresses, ports } from './cluster/settings.ts'
import { openKube, removeNamespaces } from './support/access.ts'
import { addCluster, clusterSettings } from './support/add-cluster.ts'
import { makeChart, type TestChart } from './support/charts.ts'
import { helmProgram } from './support/helm.ts'
import { portChart } from './support/port-chart.ts'
import { publishRouterImage } from './support/router-image.ts'

// Public ports of a chart, behind each router that a cluster can have. The tests of a router build
// on each other.

const image = usePublishedImage()
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
after(() => kube.close())

/** A way of traffic into a cluster. */
interface Way {
  readonly name: string
  readonly domain: string | undefined
  readonly env: () => Promise<Readonly<Record<string, string>>>
  /** Returns the address and the port of the router. */
  readonly reached: (server: ServerProcess, instance: string) => Promise<{ host: string; port: number }>
}

const ways: readonly Way[] = [
  {
    name: 'the router of the machine',
    domain: undefined,
    env: async () => clusterSettings('chart-ports'),
    reached: async (server) => ({ host: '127.0.0.1', port: server.routerPort }),
  },
  {
    name: 'an ingress controller',
    domain: 'charts.far.test',
    env: async () => clusterSettings('chart-ports'),
    reached: async () => ({ host: addresses.node, port: ports.ingress }),
  },
  {
    name: 'the router in pods',
    domain: 'charts.near.test',
    env: async () => ({
      ...clusterSettings('chart-ports'),
      QUAYSIDE_CLUSTER_ROUTER_IMAGE: await publishRouterImage('charts'),
      QUAYSIDE_CLUSTER_ROUTER_SERVICE: 'NodePort',
      QUAYSIDE_CLUSTER_INGRESS_CLASS: 'none',
    }),
    reached: async (_, instance) => {
      const place = { namespace: `quayside-router-${instance}`, name: 'router' }
      const port = (await kube.get(kinds.service, place, limit()))?.spec?.ports?.[0]?.nodePort ?? 0
      return { host: addresses.node, port }
    },
  },
]

for (const way of ways) {
  describe(`ports of charts behind ${way.name}`, () => {
    let server: ServerProcess
    let instance: string
    let environmentId: string
    let chart: TestChart
    let at: { host: string; port: number }
    const ask = (host: string) => get(`http://${host}:${at.port}/`, undefined, at.host)
    const links = async () =>
      (await server.must<{ results: { url: string; is_default: boolean }[] }>('GET', `/helm/${chart.id}/link`)).results
    const hostOf = async (isDefault: boolean): Promise<string> => {
      const found = (await links()).find(({ is_default, url }) => is_default === isDefault && !url.includes('example'))
      return new URL(found?.url ?? '').hostname
    }

    before(async () => {
      server = await startServer({ env: { ...(await way.env()), QUAYSIDE_HELM: helmProgram } })
      const cluster = await addCluster(server, 'ports')
      await cluster.connect()
      if (way.domain) {
        const provider = { dns_provider: { provider: 'QOVERY', domain: way.domain } }
        await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, provider)
      }
      const { status, lines } = await cluster.deploy()
      assert.equal(status, 'DEPLOYED', lines)
      instance = instanceOn(server.instance, cluster.id)
      environmentId = await makeEnvironment(server, 'ports', cluster.id)
      at = await way.reached(server, instance)
    })
    after(async () => {
      await server?.close()
      await removeNamespaces(kube, instance)
    })

    test('a port of a Service and a port of labelled pods have URLs that answer', async () => {
      const settings = {
        ports: [
          { name: 'web', internal_port: 80, service_name: 'web', is_default: true },
          { name: 'admin', internal_port: 80, service_name: 'admin' },
          { name: 'pods', internal_port: 9090, service_selectors: [{ key: 'app', value: 'server' }] },
        ],
      }
      chart = await makeChart(server, { environmentId, name: 'ports', settings })
      await chart.git.push(portChart(image.reference(), 'first'))
      assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null }, await chart.lines())
      assert.equal((await links()).length, 3)
      const answers = async () =>
        (await Promise.all((await links()).map(({ url }) => ask(new URL(url).hostname)))).map(({ body }) => body).sort()
      await until('all answer', async () => (await answers()).join() === 'admin first,admin first,web first', {
        seen: answers,
      })
    })

    test('a custom domain leads to the default port', async () => {
      await server.must('POST', `/helm/${chart.id}/customDomain`, {
        domain: 'chart.ports-example.test',
        generate_certificate: false,
      })
      await until('it answers', async () => (await ask('chart.ports-example.test')).body === 'web first')
      assert.ok((await links()).some(({ url }) => url.includes('chart.ports-example.test')))
    })

    test('no request is lost while a version replaces another one', async (t) => {
      const traffic = startTraffic(`http://${await hostOf(true)}:${at.port}/`, 50, at.host)
      t.after(() => traffic.stop())
      for (const version of ['second', 'third']) {
        await chart.git.push(portChart(image.reference(), version))
        assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
      }
      await traffic.sends(300)
      const { lost, sent, bodies } = await traffic.stop()
      t.diagnostic(`${sent} requests, ${lost.length} lost`)
      assert.deepEqual(lost, [])
      assert.ok(bodies.has('web second') && bodies.has('web third'))
    })

    test('a port whose Service the chart does not have fails by its name, and nothing changes', async () => {
      await chart.git.push(portChart(image.reference(), 'fourth', { 'chart/values.yaml': 'web: other\n' }))
      const { state, reason } = await chart.run()
      assert.equal(state, 'DEPLOYMENT_ERROR')
      assert.match(reason, /port "web" names the Service "web", which the chart does not have.*"other", "admin"/)
      assert.equal((await ask(await hostOf(true))).body, 'web third')
      await chart.git.push(portChart(image.reference(), 'third'))
    })

    test('a port never leads to another namespace, or by a Service to another host name', async () => {
      const port = { name: 'web', internal_port: 80, service_name: 'web', is_default: true }
      await chart.edit({ ports: [{ ...port, namespace: 'kube-system' }] })
      assert.match((await chart.run()).reason, /port "web" is in the namespace "kube-system"/)
      const elsewhere = `apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {type: ExternalName, externalName: example.org}
`
      await chart.git.push(portChart(image.reference(), 'third', { 'chart/templates/elsewhere.yaml': elsewhere }))
      await chart.edit({ ports: [{ ...port, service_name: 'elsewhere' }] })
      assert.match((await chart.run()).reason, /Service "elsewhere" leads to another host name by externalName/)
      await chart.git.push(portChart(image.reference(), 'third'))
      await chart.edit({ ports: [{ ...port, internal_port: 81 }] })
      assert.match((await chart.run()).reason, /is 81, which the Service "web" does not have\. It has 80/)
      await chart.edit({ ports: [port] })
      assert.deepEqual(await chart.run(), { state: 'DEPLOYED', reason: null })
      await until('it answers again', async () => (await ask(await hostOf(true))).body === 'web third')
    })

    test('a pod that is replaced gets requests', async () => {
      const pods = async () =>
        (await kube.list(kinds.pod, { labels: ownLabels(instance, { app: 'server' }) }, limit())).items
      const former = (await pods()).map(({ metadata }) => metadata)
      await Promise.all(former.map((metadata) => kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })))
      await until('another pod is ready', async () =>
        (await pods()).some(
          ({ metadata, status }) =>
            former.every(({ name }) => name !== metadata.name) &&
            status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
        ),
      )
      await until('it answers', async () => (await ask(await hostOf(true))).body === 'web third')
    })

    test('a stopped chart answers 503, and a deleted one leaves no route', async () => {
      const host = await hostOf(true)
      await server.must('POST', `/helm/${chart.id}/stop`, {})
      assert.equal((await chart.settles()).state, 'STOPPED')
      await until('it answers 503', async () => (await ask(host)).status === 503)
      assert.equal((await chart.run()).state, 'DEPLOYED')
      await until('it answers', async () => (await ask(host)).body === 'web third')
      await server.must('DELETE', `/environment/${environmentId}`)
      await until('its route is gone', async () => (await ask(host)).status === 404)
    })
  })
}
