/**
 * A bounded queue between waiting writers and one reader. Ends for both when the signal is aborted.
 */
export class Channel<T> implements AsyncIterable<T> {
  readonly #items: T[] = []
  readonly #capacity: number
  readonly #signal: AbortSignal
  #changed = Promise.withResolvers<void>()

  constructor(capacity: number, signal: AbortSignal) {
    this.#capacity = capacity
    this.#signal = signal
    signal.addEventListener('abort', () => this.#changed.resolve(), { once: true })
  }

  /** Resolves once the item is queued; does nothing after the end. */
  async push(item: T): Promise<void> {
    while (this.#items.length >= this.#capacity && !this.#signal.aborted) await this.#changed.promise
    if (this.#signal.aborted) return
    this.#items.push(item)
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      if (this.#signal.aborted) return
      const taken = this.#items.splice(0)
      if (taken.length === 0) {
        await this.#changed.promise
        continue
      }
      this.#wake()
      for (const item of taken) {
        if (this.#signal.aborted) return
        yield item
      }
    }
  }

  #wake(): void {
    const { resolve } = this.#changed
    if (!this.#signal.aborted) this.#changed = Promise.withResolvers()
    resolve()
  }
}
