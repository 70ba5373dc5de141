import { triggersOf } from '@quayside/contract/services/event-triggers.ts'
import { EngineError, type Release } from '../engine.ts'
import { isAutoscaled, replicaCount, type WithSpec } from './autoscaler.ts'
import { type Kube, KubeError, type KubeObject, kinds, type Selection } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { listOptional } from './optional-kinds.ts'
import { mainContainer } from './program.ts'

/** What a cluster without KEDA lacks. */
export const lacksKeda = 'no KEDA (the kind ScaledObject of keda.sh/v1alpha1)'

/** Whether a cluster has the kind of objects that scale by events. */
export async function hasKeda(kube: Pick<Kube, 'raw'>, signal: AbortSignal): Promise<boolean> {
  try {
    const { resources } = Object(await kube.raw(`/apis/${kinds.scaledObject.apiVersion}`, signal))
    return Array.isArray(resources) && resources.some((one) => Object(one).name === kinds.scaledObject.plural)
  } catch (error) {
    if (error instanceof KubeError && error.status === 404) return false
    throw error
  }
}

/**
 * Returns the objects that scale a release by events: one for its triggers, and one for each
 * trigger that needs values of variables. None if it has no policy. Throws EngineError('refused')
 * for a policy that a cluster does not take. Pure.
 */
export function eventScalers({ workload, displayName }: Release, metadata: KubeObject['metadata']): WithSpec[] {
  const { events } = workload
  if (!events || !isAutoscaled(workload)) return []
  const read = triggersOf(events.scalers)
  if ('problem' in read) throw new EngineError('refused', `${read.problem}; change the autoscaling of "${displayName}"`)
  const { apiVersion } = kinds.scaledObject
  const authentications = read.triggers.map(({ variables }, index): WithSpec[] => {
    const env = Object.entries(variables).map(([parameter, name]) => ({
      parameter,
      name,
      containerName: mainContainer,
    }))
    const own = { ...metadata, name: `${metadata.name}-${index}` }
    return env.length === 0
      ? []
      : [{ apiVersion, kind: kinds.triggerAuthentication.kind, metadata: own, spec: { env } }]
  })
  const triggers = read.triggers.map(({ type, metadata: values }, index) => {
    const [authentication] = authentications[index] ?? []
    const authenticationRef = authentication && { name: authentication.metadata.name, kind: authentication.kind }
    return { type, metadata: values, ...(authenticationRef && { authenticationRef }) }
  })
  const scaled: WithSpec = {
    apiVersion,
    kind: kinds.scaledObject.kind,
    metadata,
    spec: {
      scaleTargetRef: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: metadata.name,
        envSourceContainerName: mainContainer,
      },
      pollingInterval: events.pollingSeconds,
      cooldownPeriod: events.cooldownSeconds,
      // The platform itself puts services to sleep, and wakes them by requests.
      minReplicaCount: replicaCount(workload),
      maxReplicaCount: workload.replicas.max,
      triggers,
    },
  }
  return [...authentications.flat(), scaled]
}

const pausedAnnotation = 'autoscaling.keda.sh/paused'

/**
 * Pauses or continues scaling by events, which would bring replicas back at once. An autoscaler
 * by load needs nothing: it rests while there are no replicas.
 */
export async function pauseEventScaling(
  { kube }: Pick<KubeHost, 'kube'>,
  selection: Selection,
  isPaused: boolean,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of await listOptional(kube, kinds.scaledObject, selection, signal)) {
    const change = { metadata: { annotations: { [pausedAnnotation]: isPaused ? 'true' : null } } }
    await kube.patch(kinds.scaledObject, metadata, change, signal)
  }
}
