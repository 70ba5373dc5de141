import { dirname } from 'node:path'
import type { Attempt } from '../../lib/attempt.ts'
import type { ImageReference } from '../docker/image-reference.ts'
import { aboveFloor } from '../docker/registry/above-floor.ts'
import { download, type Part } from '../docker/registry/download.ts'
import type { RegistryTools } from '../docker/registry/registries.ts'
import type { ImageSource } from '../docker/registry/source.ts'
import { toError, tryOften } from '../docker/try-often.ts'

/** An image that is read from its registry. */
export interface Reading {
  readonly registries: RegistryTools
  /** Opens the source for each try. */
  readonly source: (signal: AbortSignal) => Promise<ImageSource>
  /** The image there, by its digest. */
  readonly from: ImageReference & { readonly digest: string }
}

/** Downloads a part of the image to its file. Throws EngineError. */
export async function receivePart(reading: Reading, part: Part, attempt: Attempt): Promise<void> {
  const { registries } = reading
  let bytes = 0
  const count = (more: number): void => {
    bytes += more
  }
  const bounded = (source: ImageSource) =>
    aboveFloor(registries, dirname(part.file), attempt.signal, (signal) =>
      download(part, { source, clock: registries.clock, signal, count }),
    )
  await asking(reading, attempt, () => bytes, bounded)
}

/** Asks the source until it answers, or a retry cannot help. Throws EngineError. */
export async function asking<T>(
  { registries, source, from }: Reading,
  attempt: Attempt,
  bytes: () => number,
  ask: (source: ImageSource) => Promise<T>,
): Promise<T> {
  const answer = await tryOften(registries, from, attempt, {
    ask: async () => ({ value: await ask(await source(attempt.signal)) }),
    isEnough: () => false,
    bytes,
  })
  if ('problem' in answer) throw toError(answer)
  return answer.value
}
