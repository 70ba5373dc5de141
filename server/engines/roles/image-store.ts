import type { Attempt } from '../../lib/attempt.ts'
import type { PinnedImage, RegistryLogin } from '../image.ts'

/** Finds and fetches images. */
export interface ImageStore {
  /**
   * Asks the registry which image a name with a tag (`host/name:tag`) stands for now. If the
   * registry cannot be reached or does not have the image, an image of that name on the engine is
   * used. Returns a pinned reference unchanged and asks nobody. Throws
   * EngineError('image-missing' | 'registry-away') with the registry's reason.
   */
  pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage>
  /** Fetches the image of a pinned reference unless the engine has it. Throws as pinImage does. */
  fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void>
}
