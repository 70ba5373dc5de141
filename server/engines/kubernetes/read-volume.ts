import type { Attempt } from '../../lib/attempt.ts'
import { metered } from '../archive-meter.ts'
import { EngineError, type VolumeWriter } from '../engine.ts'
import { printed } from './archive-streams.ts'
import type { KubeHost } from './host.ts'
import { assertUnused, type Claim, findClaim } from './volume-claims.ts'
import { packCommand } from './volume-commands.ts'
import { withHelper } from './volume-helper.ts'

/** Engine.readVolume for Kubernetes. */
export async function readVolume(host: KubeHost, id: string, write: VolumeWriter, attempt: Attempt): Promise<number> {
  const { signal } = attempt
  const claim = await findClaim(host, id, signal)
  if (!claim) throw new EngineError('refused', `there is no volume ${id} of this installation on the cluster`)
  let isWhole = false
  const bytes = await archiveOf(host, claim, attempt, async (archive) => {
    const whole = async function* (): AsyncGenerator<Uint8Array> {
      yield* archive
      isWhole = true
    }
    await write(whole())
  })
  if (isWhole) return bytes
  throw new EngineError('refused', `the archive of the volume ${claim.name} was not read to its end`)
}

/**
 * Passes the archive of an unused volume to `take`, and returns the number of bytes that were read.
 * The archive ends with an error if the volume is taken into use meanwhile.
 */
export async function archiveOf(
  host: KubeHost,
  claim: Claim,
  attempt: Attempt,
  take: (archive: AsyncIterable<Uint8Array>) => Promise<void>,
  tell: (bytes: number) => void = () => {},
): Promise<number> {
  const { signal } = attempt
  await assertUnused(host, claim, signal)
  let bytes = 0
  const count = (more: number): void => {
    bytes += more
    tell(more)
  }
  await withHelper(host, { claim, purpose: 'read' }, attempt, async (place) => {
    const archive = async function* (): AsyncGenerator<Uint8Array> {
      const { sizeGiB } = claim
      yield* metered(printed(host, place, packCommand, signal), { count, broken: 'unreachable', sizeGiB })
      await assertUnused(host, claim, signal)
    }
    await take(archive())
  })
  return bytes
}
