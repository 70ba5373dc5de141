import { failpoint } from '../../lib/failpoint.ts'
import { type CopyLimits, EngineError, type VolumeCopy } from '../engine.ts'

/** The volumes of the fake engine: each belongs to a service and holds a text. */
export class FakeVolumes {
  readonly #owners = new Map<string, string>()
  readonly #texts = new Map<string, string>()
  /** Called between what a copy reads and what it writes. */
  onCopy: (copy: VolumeCopy) => Promise<void> = async () => {}

  /** True when it was not there before. */
  make(id: string, service: string): boolean {
    const isNew = !this.#owners.has(id)
    this.#owners.set(id, service)
    return isNew
  }

  ids = (): string[] => [...this.#owners.keys()]
  has = (id: string): boolean => this.#owners.has(id)
  read = (id: string): string => this.#texts.get(id) ?? ''
  write = (id: string, text: string): void => void this.#texts.set(id, text)

  /** Gives how many there were. */
  removeOf(service: string): number {
    const own = [...this.#owners].filter(([, owner]) => owner === service)
    for (const [id] of own) {
      this.#owners.delete(id)
      this.#texts.delete(id)
    }
    return own.length
  }

  /** All as of the moment of the call. Gives bytes, and how many volumes were made. */
  async copy(
    copies: readonly VolumeCopy[],
    { mostStandingSeconds, tell }: CopyLimits,
  ): Promise<{ bytes: number; made: number }> {
    const there = copies.filter(({ from }) => this.has(from))
    if (there.length > 0) failpoint('copy.paused')
    const texts = there.map(({ from }) => this.read(from))
    let [made, bytes] = [0, 0]
    if (there.length > 0 && mostStandingSeconds === 0) throw new EngineError('refused', 'it has stood still for 0 s')
    for (const [index, copy] of there.entries()) {
      await this.onCopy(copy)
      if (this.make(copy.to, copy.owner.service)) made++
      const text = texts[index] ?? ''
      this.write(copy.to, text)
      bytes += Buffer.byteLength(text)
      tell?.(bytes)
    }
    if (there.length > 0) failpoint('copy.copied')
    return { bytes, made }
  }
}
