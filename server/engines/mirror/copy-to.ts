import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import { type ImageReference, parseReference } from '../docker/image-reference.ts'
import { type RegistryTools, targetOf } from '../docker/registry/registries.ts'
import type { PublishedImage, RegistryTarget } from '../image.ts'
import { copyImage } from './copy-image.ts'
import type { Reading } from './read-image.ts'

/** Registries may remove manifests without a tag. */
export const tagOf = (digest: string): string => digest.replace(':', '-')

/** Opens a repository to which images are copied. */
export const openTarget = async (
  registries: RegistryTools,
  { repository, login }: RegistryTarget,
  { signal }: Attempt,
) => {
  const reference = parseReference(repository)
  return { reference, client: await targetOf(registries, reference, login, signal) }
}

/**
 * Copies an image to a repository. `own` is the source's place if the platform has filled it
 * itself, in the same registry. Throws EngineError.
 */
export async function copyTo(
  registries: RegistryTools,
  {
    source,
    from,
    own,
    target,
  }: Pick<Reading, 'source' | 'from'> & { readonly own?: ImageReference; readonly target: RegistryTarget },
  attempt: Attempt,
): Promise<PublishedImage> {
  const directory = await mkdtemp(join(await registries.spoolDirectory(), 'image-'))
  try {
    const to = await openTarget(registries, target, attempt)
    const mountable = own && { mountable: own.name.slice(own.host.length + 1) }
    const copying = { registries, source, from, to, tag: tagOf(from.digest), ...mountable }
    const digest = await copyImage(copying, directory, attempt)
    return { reference: `${to.reference.name}@${digest}`, digest }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
