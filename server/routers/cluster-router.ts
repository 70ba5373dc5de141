import { createIngressRouter, type IngressRouterOptions } from './ingress/ingress-router.ts'
import type { Router } from './router.ts'

export interface ClusterRouterOptions extends Omit<IngressRouterOptions, 'setting'> {
  /** Whether names of the cluster's services lead to its own ingress controller. */
  readonly hasDomain: boolean
  /** The router of this machine. */
  readonly local: Router
  /** Labels of every object of the router on the cluster, and of no other object. */
  readonly labels: Readonly<Record<string, string>>
  readonly podsOf: IngressRouterOptions['setting']['podsOf']
  /** The default rules of routes. */
  readonly usual: IngressRouterOptions['setting']['usual']
  readonly instance: string
}

/**
 * Returns the router of a connected cluster: its own ingress controller, or that of this machine.
 */
export function createClusterRouter({
  hasDomain,
  local,
  labels,
  podsOf,
  usual,
  instance,
  ...rest
}: ClusterRouterOptions): Router {
  if (!hasDomain) return local
  const idleNamespace = `quayside-routes-${instance}`
  return createIngressRouter({ ...rest, setting: { labels, podsOf, usual, idleNamespace } })
}
