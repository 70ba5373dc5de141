import type { Attempt } from '../../lib/attempt.ts'
import { EngineError } from '../engine.ts'
import { isKubeError, kinds, type PersistentVolumeClaim } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { refuseForeign } from './own-objects.ts'
import { sizeOf } from './volume-claims.ts'

/**
 * Creates the claim of a volume, or lets it grow to its size. A claim never shrinks. Throws
 * EngineError('refused') if its storage class does not let it grow.
 */
export async function ensureClaim(
  { kube, instance }: KubeHost,
  claim: PersistentVolumeClaim,
  { signal, output }: Attempt,
): Promise<void> {
  const found = await kube.get(kinds.volumeClaim, claim.metadata, signal)
  refuseForeign(instance, found)
  if (!found) return void (await kube.apply(claim, signal))
  const { name } = claim.metadata
  const [present, wanted] = [sizeOf(found), sizeOf(claim)]
  if (wanted === present) return
  if (wanted < present) {
    output.line(`The volume ${name} keeps its ${present} GiB: a volume of a cluster does not shrink.`, 'warning')
    return
  }
  const change = { spec: { resources: { requests: { storage: `${wanted}Gi` } } } }
  await kube.patch(kinds.volumeClaim, claim.metadata, change, signal).catch((cause: unknown) => {
    if (!isKubeError(cause, 403, 422)) throw cause
    const problem = `the volume ${name} has ${present} GiB and cannot grow to ${wanted} GiB: ${cause.message}`
    const advice = `set the storage back to ${present} GiB, or copy the environment with its data`
    throw new EngineError('refused', `${problem}; ${advice}`, { cause })
  })
}
