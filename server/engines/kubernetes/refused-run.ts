import { EngineError } from '../engine.ts'
import { kinds, plain } from './client/index.ts'
import type { KubeHost } from './host.ts'

export const podRemoved = (): EngineError =>
  new EngineError('crashed', 'Somebody removed the pod of the run before its end.')

/** A new namespace lacks what a pod needs for a moment, so a single refusal says nothing. */
const pauseMs = 5_000

/**
 * Waits until the cluster refuses to create the pod of a run. Throws EngineError('refused') with
 * its reason, or the reason of the signal. Kubernetes reports that in events only, and would try
 * for as long as the Job exists. Throws EngineError('crashed') if the pod was removed before
 * somebody saw it.
 */
export async function untilRefused(
  { kube, clock }: KubeHost,
  place: { readonly namespace: string; readonly name: string },
  isThere: () => boolean,
  signal: AbortSignal,
): Promise<never> {
  const { namespace, name } = place
  const fields = `involvedObject.kind=Job,involvedObject.name=${name},reason=FailedCreate`
  for (let isRefused = false; ; ) {
    await clock.sleep(pauseMs, signal)
    if (isThere()) continue
    const job = await kube.get(kinds.job, place, signal)
    const isOver = !job || (job.status?.failed ?? 0) > 0
    if (isOver && !isThere()) throw podRemoved()
    const { items } = await kube.list(kinds.event, { namespace, fields }, signal)
    const message = items.at(-1)?.message
    if (message && isRefused && !isThere()) {
      throw new EngineError('refused', `the cluster creates no pod of the run: ${plain(message)}`)
    }
    isRefused = message !== undefined
  }
}
