import { request } from 'node:http'
import type { Route, RouteEndpoint } from '@quayside/contract/routes.ts'
import {
  issuedLabels,
  type Kube,
  kinds,
  ownLabels,
  portLabels,
  replicasOn,
  routeLabels,
} from '../../../server/engines/index.ts'
import { systemClock as clock } from '../../../server/lib/clock.ts'
import { newId } from '../../../server/lib/id.ts'
import type { Router } from '../../../server/routers/index.ts'
import { createIngressRouter } from '../../../server/routers/ingress/ingress-router.ts'
import { routeNamespaces } from '../../../server/routers/ingress/route-namespaces.ts'
import type { PortType } from '../../../server/routers/ports/port-objects.ts'
import { createPortRouter } from '../../../server/routers/ports/port-router.ts'
import { until } from '../../support/until.ts'
import { addresses, ports } from '../cluster/settings.ts'
import { openKube } from './access.ts'
import { podOf, untilReady } from './test-pod.ts'

const limit = (): AbortSignal => AbortSignal.timeout(60_000)

/** An ingress router of the test cluster, with applications in pods. */
export interface IngressBench {
  readonly router: Router
  readonly kube: Kube
  /** The namespace of the applications. */
  readonly namespace: string
  /**
   * Starts a program as a pod of a release of its own, or of the release of another one. Returns
   * its endpoint.
   */
  start(source: string, beside?: RouteEndpoint): Promise<RouteEndpoint>
  /** Returns the replicas of endpoints that `start` returned. */
  replicas(endpoints: readonly RouteEndpoint[]): Route['replicas']
  close(): Promise<void>
}

/**
 * `portType` is the type of the Services of TCP and UDP ports. Without the name of a class the
 * controller is Traefik.
 */
export async function openIngressBench(
  image: string,
  { portType = 'NodePort', className }: { readonly portType?: PortType; readonly className?: string } = {},
): Promise<IngressBench> {
  const instance = `test-${newId().slice(-8)}`
  const environment = newId()
  const kube = openKube()
  const labels = ownLabels(instance)
  // Every pod belongs to one service.
  const podsOf = (at: { readonly environment: string; readonly release: string }) =>
    replicasOn(instance)({ ...at, service: 'service' })
  const { namespace } = podsOf({ environment, release: newId() })
  const releases = new Map<string, string>()
  const namespaces = routeNamespaces(instance)
  await kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } }, limit())
  return {
    kube,
    namespace,
    router: createPortRouter({
      kube,
      clock,
      setting: { labels: portLabels(instance), portType, podsOf },
      router: createIngressRouter({
        kube,
        clock,
        className,
        setting: {
          ...namespaces,
          labels: routeLabels(instance),
          issuedLabels: issuedLabels(instance),
          podsOf,
          usual: {},
        },
      }),
    }),
    start: async (source, beside) => {
      const release = (beside && releases.get(beside.address)) ?? newId()
      const pod = podsOf({ environment, release })
      const name = `pod-${newId().slice(-12)}`
      await kube.create(podOf({ namespace, name, labels: pod.labels }, image, source), limit())
      const address = await untilReady(kube, { namespace, name })
      releases.set(address, release)
      return { address, port: 8080 }
    },
    replicas: ([endpoint]) => {
      const release = endpoint && releases.get(endpoint.address)
      return release === undefined ? undefined : { environment, release }
    },
    close: async () => {
      const list = async () => (await kube.list(kinds.namespace, { labels }, limit())).items
      await Promise.all((await list()).map(({ metadata }) => kube.remove(kinds.namespace, metadata, limit())))
      await until('the namespaces are gone', async () => (await list()).length === 0)
      kube.close()
    },
  }
}

/** An answer of the ingress controller. */
export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** Sends a request to the ingress controller of the test cluster, or to the one at `address`. */
export function askController(
  host: string,
  {
    path = '/',
    headers = {},
    method = 'GET',
    address = { host: addresses.node, port: ports.ingress },
  }: {
    path?: string
    headers?: Record<string, string>
    method?: string
    address?: { readonly host: string; readonly port: number }
  } = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const sent = request(
    {
      ...address,
      path,
      method,
      headers: { host, ...headers },
      agent: false,
      signal: limit(),
    },
    (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        body += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }))
      response.on('error', reject)
    },
  )
  sent.on('error', reject)
  sent.end()
  return promise
}
