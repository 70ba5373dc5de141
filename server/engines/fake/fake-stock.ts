import type { Attempt } from '../../lib/attempt.ts'
import {
  type CopyLimits,
  type DiskMeter,
  type DiskSpace,
  type EngineDisk,
  EngineError,
  type ImageStore,
  type InodeCounts,
  type PinnedImage,
  type RegistryLogin,
  type VolumeCopy,
  type VolumeStore,
  type VolumeTarget,
  type VolumeWriter,
} from '../engine.ts'
import { boundedArchive } from '../volume.ts'
import { packFiles, unpackFiles } from './fake-archive.ts'
import { FakeWorld } from './fake-world.ts'

type Stock = ImageStore & VolumeStore & DiskMeter

/** The disk of the engine in memory: images and volumes. */
export class FakeStock extends FakeWorld implements Stock {
  /** Every registry has every image, except those that are marked as missing. */
  async pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage> {
    this.reach(attempt.signal)
    return this.images.pin(image, this.named(image)?.outcome === 'image-missing', login, attempt)
  }

  async fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void> {
    this.reach(attempt.signal)
    this.images.fetch(reference, login)
  }

  async disk(signal: AbortSignal): Promise<EngineDisk> {
    this.reach(signal)
    const wrote = (name: string): number => this.written.get(name)?.bytes ?? 0
    const volumes = this.volumes.ids().map((id) => {
      return { id, service: this.volumes.ownerOf(id), bytes: 1000 + wrote(id) }
    })
    const layers = this.replicas.all.map(({ service, release, name }) => ({ service, release, bytes: wrote(name) }))
    const runs = this.tasks.list().map(({ service, run }) => ({ service, run, bytes: wrote(run) }))
    return this.images.disk({ volumes, layers, runs })
  }

  async diskSpace(signal: AbortSignal): Promise<DiskSpace | undefined> {
    signal.throwIfAborted()
    return this.space
  }

  async countInodes(_most: number, signal: AbortSignal): Promise<InodeCounts | undefined> {
    this.reach(signal)
    if (!this.space) return undefined
    const count = (name: string): number => (this.written.get(name)?.files ?? 0) + 1
    return {
      volumes: this.volumes.ids().map((id) => ({ id, inodes: count(id) })),
      layers: this.replicas.all.map(({ service, release, name }) => ({ service, release, inodes: count(name) })),
      runs: this.tasks.list().map(({ service, run }) => ({ service, run, inodes: count(run) })),
    }
  }

  async removeImage(reference: string, signal: AbortSignal): Promise<boolean> {
    this.reach(signal)
    if (this.replicas.all.some(({ workload }) => workload.image === reference)) return false
    this.images.remove(reference)
    return true
  }

  async trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number> {
    this.reach(signal)
    return this.images.trimCache(keepBytes)
  }

  async copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number> {
    this.reach(attempt.signal)
    const { bytes, made } = await this.volumes.copy(copies, limits)
    this.reach(attempt.signal)
    this.effects.volumesMade += made
    return bytes
  }

  async hasVolume(volume: string, signal: AbortSignal): Promise<boolean> {
    this.reach(signal)
    return this.volumes.has(volume)
  }

  async readVolume(volume: string, write: VolumeWriter, { signal }: Attempt): Promise<number> {
    this.reach(signal)
    if (!this.volumes.has(volume)) throw new EngineError('refused', `there is no volume ${volume}`)
    this.#assertUnused(volume)
    let [bytes, isWhole] = [0, false]
    const archive = async function* (this: FakeStock): AsyncGenerator<Uint8Array> {
      for await (const piece of packFiles(this.volumes.files(volume))) {
        this.reach(signal)
        bytes += piece.length
        yield piece
      }
      this.#assertUnused(volume)
      isWhole = true
    }
    await write(archive.call(this))
    if (isWhole) return bytes
    throw new EngineError('refused', `the archive of the volume ${volume} was not read to its end`)
  }

  async writeVolume(
    volume: string,
    { service, sizeGiB }: VolumeTarget,
    archive: AsyncIterable<Uint8Array>,
    attempt: Attempt,
  ): Promise<number> {
    await this.removeVolume(volume, attempt)
    this.volumes.make(volume, service)
    this.effects.volumesMade++
    try {
      const { files, bytes } = await unpackFiles(boundedArchive(archive, sizeGiB))
      this.reach(attempt.signal)
      this.volumes.fill(volume, files)
      return bytes
    } catch (error) {
      if (this.volumes.remove(volume)) this.effects.volumesRemoved++
      throw error
    }
  }

  async removeVolume(volume: string, { signal }: Attempt): Promise<void> {
    this.reach(signal)
    this.#assertUnused(volume)
    if (this.volumes.remove(volume)) this.effects.volumesRemoved++
  }

  #assertUnused(volume: string): void {
    const isUsed = this.replicas.all.some(({ workload }) => workload.storage.some(({ id }) => id === volume))
    if (isUsed) throw new EngineError('refused', `the volume ${volume} is in use; stop the service that uses it first`)
  }

  /** Nothing is ever paused here. */
  async resume(signal: AbortSignal): Promise<string[]> {
    this.reach(signal)
    return []
  }
}
