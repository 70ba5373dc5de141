import type { Attempt } from '../../lib/attempt.ts'
import { EngineError, type PinnedImage } from '../engine.ts'
import { fetchImage } from './fetch-image.ts'
import { inspectImage, inspectPinned, referencesTo } from './local-images.ts'
import { localName } from './local-name.ts'
import { assertOpen, pinImage } from './pin-image.ts'
import type { Registries } from './registry/registries.ts'

/**
 * Receives the reference of the image before anything is fetched. Whoever keeps the reference
 * removes the image with `removeImage`.
 */
export type NoteImage = (image: Pick<PinnedImage, 'reference' | 'isThere'>) => Promise<void>

/**
 * Has the engine get an image that a Dockerfile names, and gives the name by which it is there. No password is used: an image that the engine has is
 * given out only if its registry gives it to everybody, or if it came from none. Throws EngineError.
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
      `The image ${image} came to the engine by a password, and its registry cannot be asked whether it gives it to everybody. Deploy again when it answers.`,
    )
  }
  // A caller may know a digest without having asked its registry.
  if (pinned.isThere && image.includes('@')) await assertOpen(registries, image, attempt)
  await note(pinned)
  if (!pinned.isThere) await fetchImage(registries, pinned.reference, undefined, attempt)
  const own = localName(pinned.reference)
  return (await inspectImage(registries.daemon, own, attempt.signal)) ? own : pinned.reference
}
