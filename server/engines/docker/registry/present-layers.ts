import type { DockerDaemon } from '../daemon.ts'
import { isRefusal } from '../daemon.ts'
import { parseReference } from '../image-reference.ts'
import { type InspectedImage, referencesTo } from '../local-images.ts'

const atOnce = 8

/** Knows the layers of the engine's images. An image never changes, so each is inspected once. */
export class PresentLayers {
  readonly #daemon: DockerDaemon
  #known = new Map<string, readonly string[]>()

  constructor(daemon: DockerDaemon) {
    this.#daemon = daemon
  }

  /**
   * Returns how many of these layers, from the lowest, an image of this repository already has.
   * Other images do not count, not even those without a name, such as previous builds: a manifest
   * may name any layer, and the image may be private to another organization.
   */
  async count(diffIds: readonly string[], repository: string, signal: AbortSignal): Promise<number> {
    const images = [...(await this.#read(repository, signal)).values()]
    const same = (layers: readonly string[]): number => {
      const end = diffIds.findIndex((id, index) => id !== layers[index])
      return end === -1 ? diffIds.length : end
    }
    return Math.max(0, ...images.map(same))
  }

  async #read(repository: string, signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
    // The shape is that of Docker's published API.
    const list = (await this.#daemon.json({ method: 'GET', path: '/images/json', signal })) as InspectedImage[]
    const isSame = (image: InspectedImage): boolean =>
      referencesTo(image).some((one) => parseReference(one).name === repository)
    const ids = list.filter(isSame).map(({ Id }) => Id)
    const next = new Map<string, readonly string[]>()
    const left = ids.values()
    const work = async (): Promise<void> => {
      for (const id of left) {
        const layers = this.#known.get(id) ?? (await layersOf(this.#daemon, id, signal))
        if (layers) next.set(id, layers)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    this.#known = new Map([...this.#known, ...next].filter(([id]) => list.some(({ Id }) => Id === id)))
    return next
  }
}

/**
 * Returns the diff ids of an image, the lowest first; undefined if there is no image of that name.
 */
export async function layersOf(
  daemon: DockerDaemon,
  image: string,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    // The shape is that of Docker's published API.
    const found = (await daemon.json({ method: 'GET', path: `/images/${image}/json`, signal })) as {
      RootFS?: { Layers?: readonly string[] | null } | null
    }
    return found.RootFS?.Layers ?? []
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}
