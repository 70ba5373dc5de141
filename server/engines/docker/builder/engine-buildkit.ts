import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attempt } from '../../../lib/attempt.ts'
import type { ResultReceiver } from '../../mirror/receive-result.ts'
import { DockerDaemon } from '../daemon.ts'
import { type BuilderDaemons, type BuilderDaemonsOptions, createBuilderDaemons } from './builder-daemons.ts'
import { openImageReceiver } from './receive-image.ts'
import { createSavedImages, type SavedImages } from './saved-images.ts'

export interface EngineBuildKitOptions extends BuilderDaemonsOptions {
  /** For parts of images in transit. Only this process uses it. Default: temporary files. */
  readonly spoolDirectory?: string | undefined
  /** The largest image, in bytes of its unpacked layers. */
  readonly maxImageBytes: number
}

/**
 * BuildKit beside a Docker Engine: daemons of the platform's own, which read base images from the
 * engine and whose results are loaded into it.
 */
export interface EngineBuildKit extends BuilderDaemons {
  /** Reads images of the engine. */
  readonly images: SavedImages
  /** Receives one image and loads it into the engine. Dispose of it. */
  receive(attempt: Attempt): Promise<ResultReceiver>
}

/** Asks nobody yet. */
export function createEngineBuildKit(options: EngineBuildKitOptions): EngineBuildKit {
  const { maxImageBytes, spoolDirectory } = options
  const daemon = new DockerDaemon(options)
  let emptied: Promise<void> | undefined
  /** Empties it first: a killed server leaves files. */
  const spool = async (): Promise<string> => {
    if (spoolDirectory === undefined) return tmpdir()
    emptied ??= rm(spoolDirectory, { recursive: true, force: true })
    await emptied
    await mkdir(spoolDirectory, { recursive: true, mode: 0o700 })
    return spoolDirectory
  }
  return {
    hold: createBuilderDaemons(options).hold,
    images: createSavedImages(daemon, spool),
    receive: async ({ signal }) =>
      openImageReceiver({ daemon, directory: await mkdtemp(join(await spool(), 'image-')), maxImageBytes, signal }),
  }
}
