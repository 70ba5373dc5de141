import { failpoint } from '../../lib/failpoint.ts'
import { type CopyLimits, EngineError, type VolumeCopy } from '../engine.ts'
import { emptyVolume, type FakeFiles, fakeFile } from './fake-archive.ts'

const textPath = 'volume/text'

/** The volumes of the fake engine: each belongs to a service and holds one file of text. */
export class FakeVolumes {
  readonly #owners = new Map<string, string>()
  readonly #files = new Map<string, FakeFiles>()
  /** Called between the reads and the writes of a copy. */
  onCopy: (copy: VolumeCopy) => Promise<void> = async () => {}

  /** Returns true if the volume did not exist before. */
  make(id: string, service: string): boolean {
    const isNew = !this.#owners.has(id)
    this.#owners.set(id, service)
    return isNew
  }

  ids = (): string[] => [...this.#owners.keys()]
  ownerOf = (id: string): string | undefined => this.#owners.get(id)
  has = (id: string): boolean => this.#owners.has(id)
  read = (id: string): string => this.files(id).get(textPath)?.content.toString() ?? ''
  write = (id: string, text: string): void =>
    this.fill(id, new Map([...this.files(id), [textPath, fakeFile(textPath, text)]]))
  files = (id: string): FakeFiles => this.#files.get(id) ?? emptyVolume
  fill = (id: string, files: FakeFiles): void => void this.#files.set(id, files)

  /** Returns true if the volume existed. */
  remove(id: string): boolean {
    this.#files.delete(id)
    return this.#owners.delete(id)
  }

  /** Returns the number of removed volumes. */
  removeOf(service: string): number {
    const own = [...this.#owners].filter(([, owner]) => owner === service)
    for (const [id] of own) this.remove(id)
    return own.length
  }

  /**
   * Copies all volumes as of the moment of the call. Returns the bytes, and the number of volumes
   * created.
   */
  async copy(
    copies: readonly VolumeCopy[],
    { mostStandingSeconds, tell }: CopyLimits,
  ): Promise<{ bytes: number; made: number }> {
    const there = copies.filter(({ from }) => this.has(from))
    if (there.length > 0) failpoint('copy.paused')
    const held = there.map((copy) => ({ copy, files: this.files(copy.from) }))
    let [made, bytes] = [0, 0]
    if (there.length > 0 && mostStandingSeconds === 0)
      throw new EngineError('refused', 'the services were paused for 0 s')
    for (const { copy, files } of held) {
      await this.onCopy(copy)
      if (this.make(copy.to, copy.owner.service)) made++
      this.fill(copy.to, files)
      bytes += [...files.values()].reduce((sum, { content }) => sum + content.length, 0)
      tell?.(bytes)
    }
    if (there.length > 0) failpoint('copy.copied')
    return { bytes, made }
  }
}
