import type { Attempt } from '../../../lib/attempt.ts'
import type { ImageReference } from '../image-reference.ts'
import { type Problem, toError, tryPush } from '../try-often.ts'
import type { RegistryClient } from './client.ts'
import type { RegistryTools } from './registries.ts'
import { blobSize, type OutgoingBlob, type UploadState, uploadBlob } from './upload.ts'

const mostPlaces = 10_000

/** A repository that gets an image, and the attempt for which it does. */
export interface Sending {
  readonly registries: Pick<RegistryTools, 'clock' | 'places'>
  readonly client: RegistryClient
  readonly reference: ImageReference
  readonly attempt: Attempt
}

/** Asks the repository until it answers, or a retry cannot help. Throws EngineError. */
export async function trying<T>({ registries, reference, attempt }: Sending, ask: () => Promise<T>): Promise<T> {
  const answer: { readonly value: T } | Problem = await tryPush(registries, reference, attempt, async () => ({
    value: await ask(),
  }))
  if ('problem' in answer) throw toError(answer)
  return answer.value
}

/**
 * Uploads a blob. Before a retry it asks the registry, because the failed try may have worked. A
 * registry may take the blob from a repository of its own that is known to have it. The caller has
 * the bytes, or may read the repository `from`.
 */
export async function sendBlob(push: Sending, blob: OutgoingBlob, from = placeOf(push, blob)): Promise<void> {
  const { client, reference, registries, attempt } = push
  const { signal } = attempt
  const repository = reference.name.slice(reference.host.length + 1)
  const state: UploadState = {}
  let isFirst = true
  await trying(push, async () => {
    if (!isFirst && (await blobSize(client, blob.digest, signal)) !== undefined) return
    isFirst = false
    await uploadBlob(client, blob, { state, from: from === repository ? undefined : from, signal })
  })
  remember(registries.places, `${reference.host} ${blob.digest}`, repository)
}

const placeOf = ({ registries, reference }: Sending, { digest }: OutgoingBlob): string | undefined =>
  registries.places.get(`${reference.host} ${digest}`)

/** Drops the oldest entry when full. Its blob is then uploaded instead of mounted. */
function remember(places: Map<string, string>, blob: string, repository: string): void {
  places.set(blob, repository)
  const [oldest] = places.keys()
  if (places.size > mostPlaces && oldest !== undefined) places.delete(oldest)
}
