import type { Attempt } from '../../lib/attempt.ts'
import {
  type CopyLimits,
  type DiskSpace,
  type EngineDisk,
  EngineError,
  type InodeCounts,
  type VolumeCopy,
  type VolumeOwner,
  type VolumeWriter,
} from '../engine.ts'
import type { KubeHost } from './host.ts'

/** The volumes and the disk of a cluster. */
export class KubernetesVolumes {
  protected readonly host: KubeHost

  constructor(host: KubeHost) {
    this.host = host
  }

  async copyVolumes(_copies: readonly VolumeCopy[], _limits: CopyLimits, _attempt: Attempt): Promise<number> {
    throw new EngineError('refused', 'volumes on a cluster of Kubernetes are not copied')
  }

  async readVolume(_volume: string, _write: VolumeWriter, _attempt: Attempt): Promise<number> {
    throw new EngineError('refused', 'volumes on a cluster of Kubernetes are not read')
  }

  async writeVolume(
    _volume: string,
    _owner: VolumeOwner,
    _archive: AsyncIterable<Uint8Array>,
    _attempt: Attempt,
  ): Promise<number> {
    throw new EngineError('refused', 'volumes on a cluster of Kubernetes are not written')
  }

  async removeVolume(_volume: string, _attempt: Attempt): Promise<void> {}

  async resume(_signal: AbortSignal): Promise<string[]> {
    return []
  }

  async disk(_signal: AbortSignal): Promise<EngineDisk> {
    return {
      totalBytes: 0,
      freeBytes: 0,
      images: [],
      volumes: [],
      layers: [],
      runs: [],
      buildCache: { bytes: 0, freeableBytes: 0 },
    }
  }

  async diskSpace(_signal: AbortSignal): Promise<DiskSpace | undefined> {
    return undefined
  }

  async countInodes(_most: number, _signal: AbortSignal): Promise<InodeCounts | undefined> {
    return undefined
  }

  async removeImage(_reference: string, _signal: AbortSignal): Promise<boolean> {
    return false
  }

  async trimBuildCache(_keepBytes: number, _signal: AbortSignal): Promise<number> {
    return 0
  }
}
