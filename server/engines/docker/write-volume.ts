import type { Attempt } from '../../lib/attempt.ts'
import type { ArchiveEntry } from '../archive-reader.ts'
import { EngineError, type VolumeOwner } from '../engine.ts'
import { copyHelper, ensureEmptyImage } from './copy-helper.ts'
import { intoVolume, unpack } from './fill-volume.ts'
import type { Host } from './start.ts'

interface Wanted {
  readonly volume: string
  readonly owner: VolumeOwner
  readonly archive: AsyncIterable<Uint8Array>
}

/** Engine.writeVolume for Docker. */
export async function writeVolume(host: Host, { volume, owner, archive }: Wanted, attempt: Attempt): Promise<number> {
  const { daemon } = host
  const { signal } = attempt
  await daemon.patiently(signal, () => ensureEmptyImage(daemon, signal))
  const metering = { signal, count: () => {}, broken: 'refused', look: assertInside } as const
  return intoVolume(host, { to: volume, owner }, attempt, (target) =>
    unpack(daemon, { ...target, path: '/' }, () => archive, metering),
  )
}

/** Rejects other paths: they would not get into the volume, so its content would be incomplete. */
function assertInside({ path }: ArchiveEntry): void {
  if (`/${path}`.startsWith(`${copyHelper.path}/`)) return
  throw new EngineError(
    'refused',
    `the archive does not contain a volume: it has ${JSON.stringify(path.slice(0, 200))}`,
  )
}
