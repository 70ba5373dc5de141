import { askCluster } from './ask-cluster.ts'
import { createChoosingRouter } from './choosing-router.ts'
import { findIngressClass } from './ingress/ingress-class.ts'
import { createIngressRouter, type IngressRouterOptions } from './ingress/ingress-router.ts'
import { routeNamespaces } from './ingress/route-namespaces.ts'
import { isInstalled } from './pods/installation.ts'
import type { PodKube } from './pods/pod-kube.ts'
import { createPodRouter } from './pods/pod-router.ts'
import type { PodRouterSettings, RouterObjectSetting } from './pods/router-objects.ts'
import type { PortSetting } from './ports/port-objects.ts'
import { createPortRouter } from './ports/port-router.ts'
import type { Router } from './router.ts'
import type { TlsSource } from './tls-source.ts'

export interface ClusterRouterOptions
  extends Omit<IngressRouterOptions, 'setting' | 'kube'>,
    Pick<IngressRouterOptions['setting'], 'labels' | 'issuedLabels' | 'podsOf' | 'usual'> {
  readonly kube: PodKube & IngressRouterOptions['kube']
  /** Whether the cluster has a domain of its own, whose names lead to it. */
  readonly hasDomain: boolean
  /** The router of this machine. */
  readonly local: Router
  /** The type of the Services of TCP and UDP ports, and the labels of all their objects. */
  readonly ports: Omit<PortSetting, 'podsOf'>
  readonly instance: string
  readonly ownRouters: OwnRouterInPods
}

/** Our router as pods of a cluster. */
export interface OwnRouterInPods extends Pick<RouterObjectSetting, 'labels' | 'reached'> {
  /** The settings of the operator. Undefined: no cluster gets such routers. */
  readonly settings: PodRouterSettings | undefined
  readonly pullConfig: () => Promise<string | undefined>
  /** The certificates of the cluster's hosts. Undefined: the routers speak HTTP only. */
  readonly certificates: TlsSource | undefined
}

/**
 * Returns the router of a connected cluster. With a domain of its own, a cluster uses its ingress
 * controller, or without one our router in pods, and Services for TCP and UDP ports. Otherwise it
 * uses the router of this machine.
 */
export function createClusterRouter({
  hasDomain,
  local,
  labels,
  issuedLabels,
  podsOf,
  usual,
  ports,
  instance,
  ownRouters,
  ...rest
}: ClusterRouterOptions): Router {
  if (!hasDomain) return local
  const setting = { ...routeNamespaces(instance), labels, issuedLabels, podsOf, usual }
  const ingress = createIngressRouter({ ...rest, setting })
  const { settings, pullConfig, certificates, ...place } = ownRouters
  const { kube, clock, className } = rest
  const withPorts = (router: Router) => createPortRouter({ kube, clock, setting: { ...ports, podsOf }, router })
  if (!settings) return withPorts(ingress)
  const ownSetting = { ...settings, ...place, namespace: `quayside-router-${instance}` }
  const names = { routeLabels: labels, podsOf }
  const pods = createPodRouter({ kube, clock, setting: ownSetting, pullConfig, certificates, names })
  const choosing = createChoosingRouter((signal) =>
    askCluster(signal, async () => {
      const facts = {
        hasOwnRouters: await isInstalled(kube, ownSetting, signal),
        hasController: (await findIngressClass(kube, className, signal)) !== undefined,
      }
      return usesOwnRouters(facts) ? pods : ingress
    }),
  )
  return withPorts(choosing)
}

/**
 * Whether a cluster with a domain uses our router in pods. One that has it keeps it, because its
 * domain leads there, also if somebody installs an ingress controller later. Pure.
 */
export const usesOwnRouters = (facts: { readonly hasOwnRouters: boolean; readonly hasController: boolean }): boolean =>
  facts.hasOwnRouters || !facts.hasController
