import { startDeadline } from '../../lib/deadline.ts'
import { EngineError } from '../engine.ts'
import { type Deployment, kinds } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'

/** The time beyond the start of one replica that a rollout of several may take. */
const extraMs = 300_000

/**
 * Waits until all replicas of a Deployment have its current form and are ready. Throws
 * EngineError('not-ready') if that takes too long. The previous replicas continue then.
 */
export async function untilRolledOut(
  host: KubeHost,
  { namespace = '', name }: { readonly namespace?: string; readonly name: string },
  startMs: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = startDeadline(startMs + extraMs, signal)
  const wish = {
    kind: kinds.deployment,
    selection: { namespace, fields: `metadata.name=${name}` },
    reduce: isRolledOut,
  }
  try {
    for await (const objects of followObjects(host, wish, deadline.signal)) {
      // One that is gone has ended with its service.
      if ([...objects.values()].every((isDone) => isDone)) return
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!deadline.isOver) throw error
    throw new EngineError(
      'not-ready',
      `replicas of ${name} in the form of this version do not become ready; the previous ones continue`,
      { cause: error },
    )
  }
}

/** Whether the cluster has carried out the last change of a Deployment. Pure. */
export function isRolledOut({ metadata, spec, status = {} }: Deployment): boolean {
  const wanted = spec.replicas ?? 1
  if ((status.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false
  const counts = [status.updatedReplicas ?? 0, status.replicas ?? 0, status.availableReplicas ?? 0]
  return counts.every((count) => count === wanted)
}
