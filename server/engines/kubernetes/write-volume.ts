import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { metered } from '../archive-meter.ts'
import type { ArchiveEntry } from '../archive-reader.ts'
import { EngineError, type VolumeOwner } from '../engine.ts'
import { boundedArchive } from '../volume.ts'
import { fed, run } from './archive-streams.ts'
import { ensureEnvironment } from './environments.ts'
import type { KubeHost } from './host.ts'
import { volumeClaim } from './manifests.ts'
import { namespaceOf, volumeName } from './names.ts'
import { assertUnused, type Claim, findClaim, removeClaim } from './volume-claims.ts'
import { syncCommand, unpackCommand } from './volume-commands.ts'
import { helperPlace, withHelper } from './volume-helper.ts'

/** A volume to create. */
export interface Target {
  readonly volume: string
  readonly owner: VolumeOwner
  readonly sizeGiB: number
}

/** Engine.writeVolume for Kubernetes. A volume that exists keeps its size. */
export async function writeVolume(
  host: KubeHost,
  target: Target,
  archive: AsyncIterable<Uint8Array>,
  attempt: Attempt,
): Promise<number> {
  let bytes = 0
  const count = (more: number): void => {
    bytes += more
  }
  const bounded = boundedArchive(archive, target.sizeGiB)
  const whole = metered(bounded, { count, broken: 'refused', look: assertInside })
  await fillVolume(host, target, { archive: whole, below: helperPlace.above }, attempt)
  return bytes
}

/** An archive, and the directory of the helper to which its paths belong. */
export interface Filling {
  readonly archive: AsyncIterable<Uint8Array>
  readonly below: string
}

/**
 * Creates a volume again and fills it. If that fails, nothing of it is left, unless it is in use.
 */
export async function fillVolume(
  host: KubeHost,
  { volume, owner, sizeGiB }: Target,
  { archive, below }: Filling,
  attempt: Attempt,
): Promise<void> {
  const { kube, instance } = host
  const { signal, output } = attempt
  const former = await findClaim(host, volume, signal)
  if (former) await assertUnused(host, former, signal)
  const claim: Claim = {
    namespace: namespaceOf(owner.environment),
    environment: owner.environment,
    name: volumeName(volume),
    sizeGiB: Math.max(sizeGiB, former?.sizeGiB ?? 1),
  }
  if (former) await removeClaim(host, former, signal)
  await ensureEnvironment(host, owner.environment, signal)
  try {
    await kube.apply(volumeClaim(volume, owner, claim.sizeGiB, instance), signal)
    await withHelper(host, { claim, purpose: 'write' }, attempt, async (place) => {
      await fed(host, place, unpackCommand(below), archive, signal)
      await run(host, place, syncCommand, signal)
    })
  } catch (error) {
    await removeClaim(host, claim, AbortSignal.timeout(60_000)).catch((problem: unknown) =>
      output.line(`A partly filled volume could not be removed: ${messageOf(problem)}`, 'warning'),
    )
    throw error
  }
}

/** Rejects other paths: they would not get into the volume, so its content would be incomplete. */
function assertInside({ path }: ArchiveEntry): void {
  const [first, ...rest] = path.split('/')
  if (first === helperPlace.name && !rest.includes('..')) return
  const found = JSON.stringify(path.slice(0, 200))
  throw new EngineError('refused', `the archive does not contain a volume: it has ${found}`)
}
