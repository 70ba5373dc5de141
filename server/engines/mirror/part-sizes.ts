import { isDigest } from '../docker/registry/manifest.ts'
import { EngineError } from '../engine-error.ts'

/** Layers of the largest image, its configuration and its manifest, and as many again. */
const mostParts = 300

/** The parts that a builder has announced, by their digests. */
export interface PartSizes {
  /**
   * Adds a part. Throws EngineError for too many or too large parts, and for one that was announced
   * with another size: limits and archives rely on the sizes.
   */
  announce(digest: string, size: number): void
  sizeOf(digest: string): number | undefined
}

/** `checkSum` throws if the sizes of all parts together are too large. */
export function createPartSizes(checkSum: (bytes: number) => void): PartSizes {
  const sizes = new Map<string, number>()
  let sum = 0
  return {
    announce(digest, size) {
      if (!isDigest(digest) || !Number.isSafeInteger(size) || size <= 0) throw lied('a part without a digest or a size')
      const known = sizes.get(digest)
      if (known === size) return
      if (known !== undefined) throw lied('two sizes of one part')
      if (sizes.size === mostParts) throw lied(`more than ${mostParts} parts`)
      checkSum(sum + size)
      sizes.set(digest, size)
      sum += size
    },
    sizeOf: (digest) => sizes.get(digest),
  }
}

export const lied = (what: string): EngineError =>
  new EngineError(
    'refused',
    `The builder sent ${what}. Deploy again; if that repeats, replace its image or its cluster.`,
  )
