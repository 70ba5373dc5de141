import { createSlots } from './slots.ts'

/**
 * Does the work for each item, for at most `most` of them at a time. The first failure aborts the
 * signal of the others and is thrown once all have ended. Work that has not begun by then never
 * begins.
 */
export async function eachAtOnce<T>(
  items: readonly T[],
  most: number,
  work: (item: T, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const slots = createSlots(most)
  const failed = new AbortController()
  const bounded = AbortSignal.any([signal, failed.signal])
  const inSlot = async (item: T): Promise<void> => {
    bounded.throwIfAborted()
    try {
      await work(item, bounded)
    } catch (error) {
      failed.abort(error)
      throw error
    }
  }
  await Promise.allSettled(items.map((item) => slots.run(bounded, () => inSlot(item))))
  signal.throwIfAborted()
  failed.signal.throwIfAborted()
}
