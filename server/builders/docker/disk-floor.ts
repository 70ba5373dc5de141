import { type DiskFloor, sizeText, watchFloor as watch } from '../../lib/disk-floor.ts'
import { BuildError } from '../builder.ts'

export type { DiskFloor } from '../../lib/disk-floor.ts'

/** Aborts `stop` with a BuildError when free space falls below the floor. Ends with `over`. */
export const watchFloor = (floor: DiskFloor, stop: AbortController, over: AbortSignal): Promise<void> =>
  watch(floor, { controller: stop, error: floorError }, over)

const floorError = (floor: number): BuildError =>
  new BuildError(
    'disk-full',
    `The build was ended because less than ${sizeText(floor)} of the engine's disk is free. That much is ` +
      'reserved for running services (QUAYSIDE_DISK_FLOOR). Free space there, let the build write less, and ' +
      'deploy again.',
  )

/** Returns the error for an image that exceeds the allowed size. */
export const imageSizeError = (bytes: number, allowed: number): BuildError =>
  new BuildError(
    'size',
    `The image was removed because it takes ${sizeText(bytes)}; the limit is ${sizeText(allowed)} ` +
      '(QUAYSIDE_IMAGE_SIZE). Leave out what only the build needs, with stages and .dockerignore, and deploy again.',
  )
