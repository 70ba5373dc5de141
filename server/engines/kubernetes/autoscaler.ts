import type { LongRunning, Release } from '../engine.ts'
import { type Deployment, fieldManager, type KubeObject, kinds, type Place } from './client/index.ts'
import type { KubeHost } from './host.ts'

export type WithSpec = KubeObject & { readonly spec: object }

/** The owner of a number of replicas that a cluster may change. */
const scaleManager = `${fieldManager}-scale`

/** Returns how many replicas a release has at least. */
export const replicaCount = ({ replicas }: Pick<LongRunning, 'replicas'>): number => Math.max(1, replicas.min)

/** Whether the cluster chooses the number of replicas of a release, within its settings. */
export const isAutoscaled = ({
  replicas,
  targets,
  events,
}: Pick<LongRunning, 'replicas' | 'targets' | 'events'>): boolean =>
  (targets !== undefined || events !== undefined) && replicas.max > replicaCount({ replicas })

/** Returns the object that scales a release by load. None for a fixed number, or for events. */
export function autoscalers({ workload }: Release, metadata: KubeObject['metadata']): WithSpec[] {
  const { targets, events } = workload
  if (!targets || events || !isAutoscaled(workload)) return []
  const metric = (name: string, averageUtilization: number) => ({
    type: 'Resource',
    resource: { name, target: { type: 'Utilization', averageUtilization } },
  })
  const { apiVersion, kind } = kinds.autoscaler
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: metadata.name },
    minReplicas: replicaCount(workload),
    maxReplicas: workload.replicas.max,
    metrics: [
      metric('cpu', targets.cpuPercent),
      ...(targets.memoryPercent === undefined ? [] : [metric('memory', targets.memoryPercent)]),
    ],
  }
  return [{ apiVersion, kind, metadata, spec }]
}

/**
 * Returns how many replicas an autoscaled release begins with: as many as the version that runs,
 * which load may have raised. Pure.
 */
export function beginningReplicas(workload: Pick<LongRunning, 'replicas'>, others: readonly Deployment[]): number {
  const most = Math.max(0, ...others.map(({ spec }) => spec.replicas ?? 1))
  return Math.min(workload.replicas.max, Math.max(replicaCount(workload), most))
}

/**
 * Whether the platform owns the number of replicas by its last apply. An apply without the number
 * would set it to one then. Pure.
 */
export const ownsReplicas = ({ metadata }: Pick<Deployment, 'metadata'>): boolean =>
  metadata.managedFields?.some(
    ({ manager, operation, fieldsV1 }) =>
      manager === fieldManager && operation === 'Apply' && Object(Object(fieldsV1)['f:spec'])['f:replicas'],
  ) ?? false

/**
 * Sets the number of replicas of an autoscaled release once. Nothing repeats it, so that the
 * cluster's own choice stays.
 */
export async function setReplicas(
  { kube }: KubeHost,
  { namespace, name }: Place,
  replicas: number,
  signal: AbortSignal,
) {
  const { apiVersion, kind } = kinds.deployment
  const object: WithSpec = { apiVersion, kind, metadata: { namespace: namespace ?? '', name }, spec: { replicas } }
  await kube.apply(object, signal, { manager: scaleManager })
}
