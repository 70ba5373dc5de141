import type { Clock } from '../../lib/clock.ts'
import type { Logger } from '../../lib/log.ts'
import type { Kube } from './client/index.ts'
import type { PullRegistry } from './pull-secret.ts'

/** The tools that all parts of the engine share. */
export interface KubeHost {
  readonly kube: Kube
  /** Two installations on one cluster never see each other's objects. */
  readonly instance: string
  readonly clock: Clock
  /** An image with a shell, GNU tar, `sync` and `head`, as the nodes of the cluster name it. */
  readonly helperImage: string
  readonly registry: PullRegistry | undefined
  /** Whether a router of this machine may connect to the address of a pod. */
  readonly mayConnect: (address: string) => boolean
  /** How long replicas wait before their programs are asked to stop. Undefined: as usual. */
  readonly leaveSeconds?: number | undefined
  /** Returns the labels of the cluster's labels groups, for its namespaces. */
  readonly clusterLabels?: (() => Promise<Readonly<Record<string, string>>>) | undefined
  readonly log?: Pick<Logger, 'warn'> | undefined
}
