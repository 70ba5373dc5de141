import type { Attempt } from '../../lib/attempt.ts'
import { aboveFloor, type DiskFloor } from '../../lib/disk-floor.ts'
import type {
  CopyLimits,
  DiskSpace,
  EngineDisk,
  InodeCounts,
  PinnedImage,
  PublishedImage,
  RegistryLogin,
  RegistryTarget,
  VolumeCopy,
  VolumeTarget,
  VolumeWriter,
} from '../engine.ts'
import { boundedArchive } from '../volume.ts'
import { fetchBaseImage, type NoteImage } from './base-image.ts'
import { isOurVolume } from './copy-helper.ts'
import { copyVolumes, floorError } from './copy-volumes.ts'
import { countInodes } from './count-inodes.ts'
import { measureDisk, removeImage, trimBuildCache } from './disk.ts'
import { DiskRoot } from './disk-space.ts'
import { fetchImage } from './fetch-image.ts'
import { volumeName } from './labels.ts'
import { HeldVolumes, resumeAll } from './pause.ts'
import { pinImage } from './pin-image.ts'
import { pushImage } from './push-image.ts'
import { readVolume } from './read-volume.ts'
import { pushProblem } from './registry/push-problem.ts'
import type { Registries } from './registry/registries.ts'
import type { Host } from './start.ts'
import { removeVolume } from './volumes.ts'
import { writeVolume } from './write-volume.ts'

/** The images, the volumes and the disk of a Docker Engine. */
export class DockerStorage {
  protected readonly host: Host
  readonly #held = new HeldVolumes()
  readonly #registries: Registries
  readonly #root: DiskRoot

  constructor(host: Host, registries: Registries) {
    this.host = host
    this.#registries = registries
    this.#root = new DiskRoot(host)
  }

  pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage> {
    return pinImage(this.#registries, image, login, attempt)
  }

  disk(signal: AbortSignal): Promise<EngineDisk> {
    return measureDisk(this.host.daemon, this.host.instance, signal)
  }

  diskSpace(signal: AbortSignal): Promise<DiskSpace | undefined> {
    return this.#root.space(signal)
  }

  async countInodes(most: number, signal: AbortSignal): Promise<InodeCounts | undefined> {
    const root = await this.#root.directory(signal)
    return root === undefined ? undefined : countInodes({ ...this.host, root }, most, signal)
  }

  removeImage(reference: string, signal: AbortSignal): Promise<boolean> {
    return removeImage(this.host.daemon, reference, signal)
  }

  trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number> {
    return trimBuildCache(this.host, keepBytes, signal)
  }

  fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void> {
    return fetchImage(this.#registries, reference, login, attempt)
  }

  /** See the function of that name. */
  fetchBaseImage(image: string, note: NoteImage, attempt: Attempt): Promise<string> {
    return fetchBaseImage(this.#registries, image, note, attempt)
  }

  /** See the function of that name. */
  pushImage(image: string, target: RegistryTarget, attempt: Attempt): Promise<PublishedImage> {
    return pushImage(this.#registries, image, target, attempt)
  }

  /** Returns why images cannot be pushed to a repository now, with what to do. */
  pushProblem(target: RegistryTarget, signal: AbortSignal): Promise<string | undefined> {
    return pushProblem(this.#registries, target, signal)
  }

  copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number> {
    const floor = (signal: AbortSignal) => this.#floor(signal)
    return copyVolumes({ ...this.host, held: this.#held, floor }, copies, limits, attempt)
  }

  hasVolume(volume: string, signal: AbortSignal): Promise<boolean> {
    return this.host.daemon.patiently(signal, () => isOurVolume(this.host, volume, signal))
  }

  readVolume(volume: string, write: VolumeWriter, attempt: Attempt): Promise<number> {
    return readVolume(this.host, volume, write, attempt)
  }

  async writeVolume(
    volume: string,
    { sizeGiB, ...owner }: VolumeTarget,
    archive: AsyncIterable<Uint8Array>,
    attempt: Attempt,
  ): Promise<number> {
    const { signal } = attempt
    const { directory, ...floor } = await this.host.daemon.patiently(signal, () => this.#floor(signal))
    return aboveFloor({ ...floor, directories: [directory], error: floorError }, signal, (bounded) =>
      writeVolume(
        this.host,
        { volume, owner, archive: boundedArchive(archive, sizeGiB) },
        { ...attempt, signal: bounded },
      ),
    )
  }

  /** The directory of the engine's volumes, and the free space that must remain there. */
  async #floor(signal: AbortSignal): Promise<DiskFloor> {
    const { clock, floorBytes } = this.#registries
    const { dataDirectory: directory } = await this.#registries.settings(signal)
    return { directory, floorBytes, clock }
  }

  removeVolume(volume: string, { signal }: Attempt): Promise<void> {
    return this.host.daemon.patiently(signal, async () => {
      const isOurs = await isOurVolume(this.host, volume, signal)
      if (isOurs) await removeVolume(this.host, volumeName({ id: volume }), signal)
    })
  }

  resume(signal: AbortSignal): Promise<string[]> {
    return resumeAll({ ...this.host, held: this.#held }, undefined, signal)
  }
}
