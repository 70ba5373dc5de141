import { boundedArchive, type CopyLimits, type Runner, type VolumeStore } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import { everyOne } from '../lib/every-one.ts'
import { derivedId } from '../lib/id.ts'
import type { ServiceData } from './data-copy.ts'

/** The engines between which data moves. */
interface Way {
  readonly from: VolumeStore & Runner
  readonly to: Pick<VolumeStore, 'writeVolume'>
  /** Retries while an engine cannot be reached. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
}

/** The owner of the copies on the engine of the source: a service and environment of this id. */
export const scratchOf = (service: string): string => derivedId(service, 'moved')

/**
 * Copies volumes to another engine. They are first copied as of one moment on their own engine, so
 * that services are paused no longer than for other copies. Returns the bytes of that copy.
 */
export async function moveVolumes(
  { from, to, patiently }: Way,
  planned: readonly ServiceData[],
  limits: CopyLimits,
  attempt: Attempt,
): Promise<number> {
  const moves = planned.flatMap(({ source, service, environment, volumes, archiveCommand }) => {
    const scratch = scratchOf(service)
    const archive = archiveCommand.length > 0 ? { archive: { service: source, command: archiveCommand } } : {}
    return volumes.map((volume) => ({
      copy: {
        from: volume.from,
        to: derivedId(volume.to, 'moved'),
        owner: { service: scratch, environment: scratch },
        sizeGiB: volume.sizeGiB,
        ...archive,
      },
      volume: volume.to,
      target: { service, environment, sizeGiB: volume.sizeGiB },
    }))
  })
  const copies = moves.map(({ copy }) => copy)
  try {
    const bytes = await patiently(attempt, () => from.copyVolumes(copies, limits, attempt))
    for (const { copy, volume, target } of moves) {
      await patiently(attempt, async () => {
        // A service that was never deployed has none.
        if (!(await from.hasVolume(copy.to, attempt.signal))) return
        const write = async (archive: AsyncIterable<Uint8Array>): Promise<void> =>
          void (await to.writeVolume(volume, target, boundedArchive(archive, target.sizeGiB), attempt))
        await from.readVolume(copy.to, write, attempt)
      })
    }
    return bytes
  } finally {
    const cleanUp = { ...attempt, signal: AbortSignal.timeout(120_000) }
    const owners = new Set(copies.map(({ owner }) => owner.service))
    await everyOne(
      [...owners].map(async (owner) => {
        await from.erase(owner, cleanUp)
        await from.eraseEnvironment(owner, cleanUp)
      }),
    )
  }
}
