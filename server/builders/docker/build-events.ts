import type { Readable } from 'node:stream'
import type { BuildProgress } from '../build-progress.ts'
import { readEvents } from './engine-events.ts'

/** The result of a build: an image, or the engine's error. */
export interface BuildResult {
  readonly imageId: string | undefined
  readonly error: string | undefined
}

/** Reads the engine's answer to a build to its end. */
export async function readBuildEvents(answer: Readable, progress: BuildProgress): Promise<BuildResult> {
  let imageId: string | undefined
  let error: string | undefined
  try {
    for await (const event of readEvents(answer)) {
      if (event.error !== undefined) error = event.error
      else if (typeof event.aux === 'string') progress.report((await import('../trace.ts')).decodeStatus(event.aux))
      else if (event.id === 'moby.image.id') imageId = event.aux?.ID
    }
  } finally {
    progress.end()
  }
  return { imageId, error }
}
