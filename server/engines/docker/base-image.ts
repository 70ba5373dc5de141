import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type PinnedImage } from '../engine.ts'
import { fetchImage } from './fetch-image.ts'
import { inspectImage, inspectPinned, referencesTo } from './local-images.ts'
import { localName } from './local-name.ts'
import { assertOpen, pinImage } from './pin-image.ts'
import type { Registries } from './registry/registries.ts'

/**
 * Receives the reference of the image before anything is fetched. Its keeper removes the image with
 * `removeImage`.
 */
export type NoteImage = (image: Pick<PinnedImage, 'reference' | 'isThere'>) => Promise<void>

/**
 * Fetches the image that a Dockerfile names, and returns its name on the engine. Uses no password:
 * an image that the engine already has is used only if its registry serves it to everybody, or if
 * it came from no registry. Throws EngineError.
 */
export async function fetchBaseImage(
  registries: Registries,
  image: string,
  note: NoteImage,
  attempt: Attempt,
): Promise<string> {
  const pinned = await pinImage(registries, image, undefined, attempt)
  if (pinned.namedBy === 'engine') {
    const found = await inspectPinned(registries.daemon, pinned.reference, attempt.signal)
    if (found && referencesTo(found).length === 0) return found.Id
    throw new EngineError(
      'registry-away',
      `The image ${image} was fetched with a password, and its registry does not answer whether it is ` +
        'public. Deploy again when the registry is available.',
    )
  }
  // A caller may know a digest without having asked the image's registry.
  if (pinned.isThere && image.includes('@')) await assertOpen(registries, image, attempt)
  await note(pinned)
  if (!pinned.isThere) await fetchImage(registries, pinned.reference, undefined, attempt)
  const own = localName(pinned.reference)
  return (await inspectImage(registries.daemon, own, attempt.signal)) ? own : pinned.reference
}
