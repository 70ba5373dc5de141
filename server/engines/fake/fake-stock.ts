import type { Attempt } from '../../lib/attempt.ts'
import type { CopyLimits, Engine, EngineDisk, PinnedImage, RegistryLogin, VolumeCopy } from '../engine.ts'
import { FakeWorld } from './fake-world.ts'

type Stock = Pick<
  Engine,
  'pinImage' | 'fetchImage' | 'disk' | 'removeImage' | 'trimBuildCache' | 'copyVolumes' | 'resume'
>

/** What the engine in memory has on its disk: images and volumes. */
export class FakeStock extends FakeWorld implements Stock {
  /** Every registry has every image, but those that are to be missing. */
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
    const volumes = this.volumes.ids().map((id) => ({ id, bytes: 1000 }))
    return this.images.disk(volumes)
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

  /** Nothing ever stands still here. */
  async resume(signal: AbortSignal): Promise<string[]> {
    this.reach(signal)
    return []
  }
}
