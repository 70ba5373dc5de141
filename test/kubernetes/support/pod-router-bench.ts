import { type Agent, request } from 'node:http'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import {
  environmentsOf,
  type Kube,
  kinds,
  label,
  ownLabels,
  portLabels,
  replicasOn,
  routeLabels,
  routerLabels,
} from '../../../server/engines/index.ts'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { newId } from '../../../server/lib/id.ts'
import type { Router } from '../../../server/routers/index.ts'
import { createPodRouter } from '../../../server/routers/pods/pod-router.ts'
import { createPortRouter } from '../../../server/routers/ports/port-router.ts'
import { until } from '../../support/until.ts'
import { addresses } from '../cluster/settings.ts'
import { openKube } from './access.ts'
import { podOf, untilReady } from './test-pod.ts'

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/** Our router in pods of the test cluster, with applications in other pods. */
export interface PodRouterBench {
  readonly router: Router
  readonly kube: Kube
  /** The namespace of the routers. */
  readonly namespace: string
  /** Another process of the platform, or one with another image. */
  another(image?: string): Router
  /** Starts a program as a pod of a release, and returns its endpoint. */
  start(source: string, release?: string): Promise<RouteEndpoint>
  /** Returns the replicas of a release of the service "shop". */
  replicas(release: string): Route['replicas']
  /** Returns the replicas of endpoints that `start` returned. */
  replicasOf(endpoints: readonly RouteEndpoint[]): Route['replicas']
  /** Kills the program of an endpoint. */
  stop(endpoint: RouteEndpoint): Promise<void>
  stopAll(): Promise<void>
  /** The port of the routers at the address of the node. */
  port(): Promise<number>
  /** Returns the names of the routers that get requests. */
  readyPods(): Promise<readonly string[]>
  /** Returns the names of all routers, also of those that leave. */
  pods(): Promise<readonly string[]>
  close(): Promise<void>
}

export async function openPodRouterBench(images: {
  readonly router: string
  readonly application: string
}): Promise<PodRouterBench> {
  const instance = `test-${newId().slice(-8)}`
  const namespace = `quayside-router-${instance}`
  const environment = newId()
  const podsOf = replicasOn(instance)
  const podsWith = (release: string) => podsOf({ environment, release, service: 'shop' })
  const { namespace: applications } = podsWith(newId())
  const kube = openKube()
  const another = (image = images.router): Router =>
    createPodRouter({
      kube,
      clock,
      pullConfig: async () => undefined,
      names: { routeLabels: routeLabels(instance), podsOf },
      setting: {
        image,
        replicas: 2,
        exposure: { type: 'NodePort' },
        trusted: [],
        connections: { total: 10_000, perClient: 5_000 },
        namespace,
        labels: routerLabels(instance),
        reached: environmentsOf(instance),
      },
    })
  const setting = {
    labels: portLabels(instance),
    portType: 'NodePort',
    podsOf: ({ release }: { readonly release: string }) => podsWith(release),
  } as const
  const started = new Map<string, { readonly name: string; readonly release: string }>()
  const labels = ownLabels(instance, { [label.environment]: environment })
  await kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: applications, labels } }, limit())
  return {
    router: createPortRouter({ kube, clock, setting, router: another() }),
    another,
    kube,
    namespace,
    replicas: (release) => ({ environment, release }),
    replicasOf: ([endpoint]) => {
      const release = endpoint && started.get(endpoint.address)?.release
      return release === undefined ? undefined : { environment, release }
    },
    start: async (source, release = newId()) => {
      const name = `app-${newId().slice(-12)}`
      const metadata = { namespace: applications, name, labels: podsWith(release).labels }
      await kube.create(podOf(metadata, images.application, source), limit())
      const address = await untilReady(kube, { namespace: applications, name })
      started.set(address, { name, release })
      return { address, port: 8080 }
    },
    stop: async ({ address }) => {
      const name = started.get(address)?.name ?? ''
      await kube.remove(kinds.pod, { namespace: applications, name }, limit(), { graceSeconds: 0 })
    },
    stopAll: async () => {
      const names = [...started.values()].map(({ name }) => name)
      started.clear()
      const end = (name: string) =>
        kube.remove(kinds.pod, { namespace: applications, name }, limit(), { graceSeconds: 0 })
      await Promise.all(names.map(end))
    },
    port: async () => {
      const service = await kube.get(kinds.service, { namespace, name: 'router' }, limit())
      return service?.spec?.ports?.[0]?.nodePort ?? 0
    },
    readyPods: async () => {
      const { items } = await kube.list(kinds.pod, { namespace }, limit())
      return items
        .filter(({ metadata, status }) => {
          const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')
          return isReady && metadata.deletionTimestamp === undefined
        })
        .map(({ metadata }) => metadata.name)
    },
    pods: async () => (await kube.list(kinds.pod, { namespace }, limit())).items.map(({ metadata }) => metadata.name),
    close: async () => {
      await kube.remove(kinds.deployment, { namespace, name: 'router' }, limit())
      // The end of a router in order takes longer.
      const pods = (await kube.list(kinds.pod, { namespace }, limit())).items
      await Promise.all(pods.map(({ metadata }) => kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })))
      const list = async () => (await kube.list(kinds.namespace, { labels: ownLabels(instance) }, limit())).items
      await Promise.all((await list()).map(({ metadata }) => kube.remove(kinds.namespace, metadata, limit())))
      await until('the namespaces are gone', async () => (await list()).length === 0, { limitMs: 120_000 })
      kube.close()
    },
  }
}

/** Asks the routers for a host, at the address of the node. */
export function askNode(port: number, host: string, agent?: Agent): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const options = { host: addresses.node, port, headers: { host }, agent: agent ?? false, signal: limit() } as const
  const sent = request(options, (answer) => {
    let body = ''
    answer.setEncoding('utf8')
    answer.on('data', (part: string) => {
      body += part
    })
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
    answer.on('error', reject)
  })
  sent.on('error', reject)
  sent.end()
  return promise
}
