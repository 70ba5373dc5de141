import { existsSync } from 'node:fs'
import { kinds } from '../server/engines/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { addresses, kubeconfig, ports } from '../test/kubernetes/cluster/settings.ts'
import { openKube } from '../test/kubernetes/support/access.ts'
import { type AddedCluster, clusterSettings } from '../test/kubernetes/support/add-cluster.ts'
import { publishRouterImage } from '../test/kubernetes/support/router-image.ts'
import { type Application, createApplication, type Place } from './application.ts'
import { connectCluster, namespacesOf, removeFrom } from './cluster.ts'
import { docker, list } from './docker.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { reportLost, sendRequests, type Traffic } from './traffic.ts'
import { until } from './until.ts'

const group = 'kubernetes-requests-lost'
/** They are rolled out at the same time, because a rollout mostly waits. */
const services = ['one', 'two', 'three', 'four']
const rolloutsEach = 25
/** A busy machine gets no further rollouts after this time. */
const mostMs = 30 * 60_000
/** Of all services together. */
const perSecond = 200
/** Two versions of two replicas run side by side on the node of the tests. */
const settings = { cpu: 50, memory: 64, min_running_instances: 2, max_running_instances: 2 }

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/** A way from clients to the pods of a service. */
interface Way {
  /** The settings of a server whose clusters use it. */
  settings(): Promise<Readonly<Record<string, string>>>
  /** Whether the cluster has a domain of its own. */
  readonly hasDomain: boolean
  /** Returns where clients connect. */
  entrance(installation: Installation, cluster: string): Promise<Pick<Place, 'host' | 'port'>>
}

const ways: Readonly<Record<string, Way>> = {
  ingress: {
    settings: async () => ({}),
    hasDomain: true,
    entrance: async () => ({ host: addresses.node, port: ports.ingress }),
  },
  pods: {
    settings: async () => ({
      QUAYSIDE_CLUSTER_ROUTER_IMAGE: await publishRouterImage('bench'),
      QUAYSIDE_CLUSTER_ROUTER_SERVICE: 'NodePort',
      // The test cluster has a controller. Its class is another one.
      QUAYSIDE_CLUSTER_INGRESS_CLASS: 'none',
    }),
    hasDomain: true,
    entrance: async (_, cluster) => ({ host: addresses.node, port: await portOfRouters(cluster) }),
  },
  machine: {
    settings: async () => ({}),
    hasDomain: false,
    entrance: async ({ routerPort }) => ({ host: '127.0.0.1', port: routerPort }),
  },
}

/**
 * Counts the requests without a complete 200 while changes of a service of two replicas are
 * deployed repeatedly to the cluster of the tests. Prints why it does not run if there is no such
 * cluster.
 */
export const kubernetesRedeploying: readonly Benchmark[] = Object.entries(ways).map(([name, way]) => ({
  figures: [`${group}-${name}`],
  group,
  async measure(session) {
    if (!existsSync(kubeconfig)) {
      session.say('  not measured: start the cluster of the tests first (node test/kubernetes/cluster/main.ts start)')
      return []
    }
    return [absolute(`${group}-${name}`, await lostBy(way, session), 'requests', atMost(0))]
  },
}))

async function lostBy(way: Way, session: Session): Promise<number> {
  let cluster: AddedCluster | undefined
  // The end of the installation comes before, so that nothing is created again.
  session.ending.defer(async () => {
    if (cluster) await removeFrom(cluster.id)
  })
  const installation = await createInstallation(session, { ...clusterSettings('bench'), ...(await way.settings()) })
  await installation.start()
  cluster = await connectCluster(installation, way)
  const place = { cluster: cluster.id, ...(await way.entrance(installation, cluster.id)) }
  const applications: Application[] = []
  for (const name of services) {
    const application = await createApplication(session, installation, settings, { name, ...place })
    session.ending.defer(() => removeImages(application.id))
    const isThere = async () => (await application.ask('/json').catch(() => undefined))?.status === 200
    await until('the application answers', isThere)
    applications.push(application)
  }
  const startedAt = clock.monotonic()
  const all = await Promise.all(applications.map((application) => rollOut(application, session)))
  const seconds = (clock.monotonic() - startedAt) / 1000
  const rollouts = all.reduce((sum, one) => sum + one.rollouts, 0)
  const sent = all.reduce((sum, { traffic }) => sum + traffic.sent(), 0)
  const lost = all.reduce((sum, { traffic }) => sum + traffic.lost().length, 0)
  session.say(`  ${rollouts} rollouts in ${seconds.toFixed(0)} s, ${sent} requests, ${lost} lost`)
  return lost
}

interface RolledOut {
  readonly rollouts: number
  readonly traffic: Traffic
}

/** Deploys changes of an application repeatedly, with requests all the time. */
async function rollOut(application: Application, session: Session): Promise<RolledOut> {
  const traffic = sendRequests((agent) => application.ask('/json', agent), perSecond / services.length)
  const endMs = clock.monotonic() + mostMs
  let rollouts = 0
  while (rollouts < rolloutsEach && clock.monotonic() < endMs) {
    const startedAt = clock.monotonic()
    // An unchanged application would not be restarted.
    await application.repository.push(`change ${rollouts++}`)
    await application.deploy()
    await application.untilDeployed()
    await application.untilIdle()
    const seconds = ((clock.monotonic() - startedAt) / 1000).toFixed(1)
    session.say(`  rollout ${rollouts}: ${seconds} s, ${traffic.sent()} requests, ${traffic.lost().length} lost`)
  }
  await traffic.stop()
  reportLost(session, traffic)
  return { rollouts, traffic }
}

/** Returns the port of nodes that leads to the routers in pods. */
async function portOfRouters(cluster: string): Promise<number> {
  const kube = openKube()
  try {
    const [namespace] = (await namespacesOf(kube, cluster)).filter((name) => name.startsWith('quayside-router-'))
    const service = await kube.get(kinds.service, { namespace: namespace ?? '', name: 'router' }, limit())
    return service?.spec?.ports?.[0]?.nodePort ?? 0
  } finally {
    kube.close()
  }
}

async function removeImages(service: string): Promise<void> {
  for (const { Id } of await list('images', { label: [`quayside.service=${service}`] })) {
    await docker('DELETE', `/images/${Id}`, { force: true })
  }
}
