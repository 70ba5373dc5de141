import type { Attempt } from '../../lib/attempt.ts'
import type { ImageReference } from '../docker/image-reference.ts'
import { type RegistryTools, sourceOf } from '../docker/registry/registries.ts'
import { toError, tryOften } from '../docker/try-often.ts'
import type { RegistryLogin } from '../image.ts'

/** Returns the image that a tag names now. A digest is returned without asking. */
export async function pinned(
  registries: RegistryTools,
  image: ImageReference,
  login: RegistryLogin | undefined,
  attempt: Attempt,
): Promise<ImageReference & { readonly digest: string }> {
  if (image.digest !== undefined) return { ...image, digest: image.digest }
  const ask = async () => {
    const source = await sourceOf(registries, image, login, attempt.signal)
    return source.digestOf(image.tag ?? 'latest', attempt.signal)
  }
  const digest = await tryOften(registries, image, attempt, { ask, isEnough: () => false, bytes: () => 0 })
  if (typeof digest !== 'string') throw toError(digest)
  return { ...image, tag: undefined, digest }
}
